#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "core/halting.h"

namespace ut::launcher {

/// Ponder times that are drawn, not decided by the model, to measure what halting saves at a known spread of them. A
/// row's ponder time depends only on the key and the row's identity: it is the same in each update and on every mesh.
class DrawnPonder {
 public:
  /// Draws from 1..most steps with this mean, in 1..most, and otherwise the largest entropy: the probability of n steps
  /// is proportional to ratio^n.
  DrawnPonder(double mean, std::int64_t most, std::uint64_t key);

  std::int64_t operator()(std::int64_t sequence, std::int64_t position) const;

 private:
  std::vector<double> cumulative_;  // [most]: the probability of at most n + 1 steps
  std::uint64_t key_;
};

/// The number of steps that a row takes, given its (sequence, position).
using LastStep = std::function<std::int64_t(std::int64_t, std::int64_t)>;

/// Halting probabilities with which each row takes `last_step` steps at this halting threshold.
core::HaltingDraw halting_draw(const LastStep& last_step, double threshold);

}  // namespace ut::launcher
