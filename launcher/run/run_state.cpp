#include "launcher/run/run_state.h"

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

void RunState::forget_best() {
  best.reset();
  evaluations_since_best = 0;
}

nlohmann::json RunState::to_json() const {
  nlohmann::json state{{"samples", cursor.sample},
                       {"part_of_window", cursor.part},
                       {"hours", hours},
                       {"left_out_in_a_row", left_out_in_a_row},
                       {"evaluated_at", evaluated_at},
                       {"evaluations_since_best", evaluations_since_best}};
  if (!best) return state;
  state["best_score"] = best->score;
  if (std::isfinite(best->loss)) state["best_loss"] = best->loss;  // JSON has neither infinity nor NaN
  state["best_update"] = best->update;
  return state;
}

RunState RunState::from_json(const core::StateReader& state) {
  RunState read{{state.whole("samples", 0), state.whole("part_of_window", 0)},
                state.number("hours", 0),
                state.whole("left_out_in_a_row", 0),
                state.whole("evaluated_at", -1, -1),
                state.whole("evaluations_since_best", 0)};
  const std::int64_t best = state.whole("best_update", -1, -1);
  if (best >= 0)
    read.best = {state.number("best_score", 0), state.number("best_loss", std::numeric_limits<double>::infinity()),
                 best};
  return read;
}

}  // namespace ut::launcher
