#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "core/halting.h"

namespace ut::launcher {

/// Ponder times that are drawn instead of decided, so that what halting saves is measured on a known spread of them. A
/// row's is a function of the key and the row's identity alone: the same in each update and on every mesh.
class DrawnPonder {
 public:
  /// Of 1, 2, …, most steps, with this mean in 1..most and otherwise the largest entropy: n steps are as likely as
  /// ratio^n.
  DrawnPonder(double mean, std::int64_t most, std::uint64_t key);

  std::int64_t operator()(std::int64_t sequence, std::int64_t position) const;

 private:
  std::vector<double> cumulative_;  // [most]: how likely n + 1 steps or fewer are
  std::uint64_t key_;
};

/// The steps that a row takes, of (sequence, position).
using LastStep = std::function<std::int64_t(std::int64_t, std::int64_t)>;

/// Halting probabilities with which each row takes so many steps.
core::HaltingDraw halting_draw(const LastStep& last_step, double threshold);

}  // namespace ut::launcher
