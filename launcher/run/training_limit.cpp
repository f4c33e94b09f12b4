#include "launcher/run/training_limit.h"

#include <fmt/format.h>

#include <cmath>

namespace ut::launcher {

std::string limit_reached(const Options& options, std::int64_t update, const RunState& run, bool time_is_over) {
  if (update >= options.max_updates) return fmt::format("--max-updates above {}", update);
  if (time_is_over) return fmt::format("--max-hours above {:.3g}", run.hours);
  if (options.patience > 0 && run.evaluations_since_best >= options.patience)
    return fmt::format("--patience above {}, or 0", run.evaluations_since_best);
  if (options.target_score == 0 || !run.best || run.best->score < options.target_score) return "";
  const double reached = std::ceil(run.best->score * 1e4) / 1e4;  // rounded up, so that the value shown lets it go on
  return reached >= 1 ? "--target-score 0" : fmt::format("--target-score above {:.4f}, or 0", reached);
}

std::string nothing_left(std::int64_t update, const std::string& limit) {
  return fmt::format("nothing is left to train after update {}; to go on, give {}", update, limit);
}

}  // namespace ut::launcher
