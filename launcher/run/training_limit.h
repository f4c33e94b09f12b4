#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "launcher/options/options.h"
#include "launcher/run/best_score.h"

namespace ut::launcher {

/// How far a training run has come, as far as options limit it.
struct Progressed {
  std::int64_t update = 0;
  double hours = 0;
  bool time_is_over = false;  // as the ranks agree: their clocks differ
  std::optional<BestScore> best;
  std::int64_t evaluations_since_best = 0;
};

/// The option that ends training here, with what it would have to be for more (`--max-updates above 40`); empty where
/// none does.
std::string limit_reached(const Options& options, const Progressed& run);
/// What a person is told there.
std::string nothing_left(std::int64_t update, const std::string& limit);

}  // namespace ut::launcher
