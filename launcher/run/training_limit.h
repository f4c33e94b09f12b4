#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "launcher/options/options.h"
#include "launcher/run/best_score.h"

namespace ut::launcher {

/// How far a training run has come, in what options limit.
struct Progressed {
  std::int64_t update = 0;
  double hours = 0;
  bool time_is_over = false;  // agreed by the ranks, whose clocks differ
  std::optional<BestScore> best;
  std::int64_t evaluations_since_best = 0;
};

/// The option that ends training here, with the value that would allow more (`--max-updates above 40`); empty if none
/// does.
std::string limit_reached(const Options& options, const Progressed& run);
/// The message if training has reached `limit`.
std::string nothing_left(std::int64_t update, const std::string& limit);

}  // namespace ut::launcher
