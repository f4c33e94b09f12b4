#include "launcher/run/best_score.h"

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

namespace ut::launcher {

bool improves(const BestScore& found, const std::optional<BestScore>& best, bool are_judged_by_loss) {
  if (!best) return true;
  const bool is_less = found.loss < best->loss || (std::isfinite(found.loss) && !std::isfinite(best->loss));
  if (are_judged_by_loss) return is_less;
  return found.score > best->score || (found.score == best->score && is_less);
}

void add_best_score(nlohmann::json& state, const BestScore& best) {
  state["best_score"] = best.score;
  if (std::isfinite(best.loss)) state["best_loss"] = best.loss;  // JSON has neither infinity nor NaN
  state["best_update"] = best.update;
}

std::optional<BestScore> best_score_in(const core::StateReader& state) {
  const std::int64_t update = state.whole("best_update", -1, -1);
  if (update < 0) return std::nullopt;
  return BestScore{state.number("best_score", 0), state.number("best_loss", std::numeric_limits<double>::infinity()),
                   update};
}

}  // namespace ut::launcher
