#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>

#include "core/state_reader.h"

namespace ut::launcher {

/// The result of an evaluation of a run. A checkpoint of the best one so far is kept.
struct BestScore {
  double score;
  double loss;
  std::int64_t update;  // of the model that was evaluated
};

/// Whether `found` is better than `best`, which may be empty: a higher score, or an equal score with a lower loss. If
/// they are judged by loss, only a lower loss is better.
bool improves(const BestScore& found, const std::optional<BestScore>& best, bool are_judged_by_loss);

/// Writes the score into a checkpoint's state.
void add_best_score(nlohmann::json& state, const BestScore& best);
/// What add_best_score() wrote; none if it was not called. Throws base::BadInput as the reader does.
std::optional<BestScore> best_score_in(const core::StateReader& state);

}  // namespace ut::launcher
