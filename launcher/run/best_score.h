#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>

#include "core/state_reader.h"

namespace ut::launcher {

/// What an evaluation of a run came to: of the best one so far a checkpoint is kept.
struct BestScore {
  double score;
  double loss;
  std::int64_t update;  // of the model that was evaluated
};

/// Whether `found` is better than what was the best, of which there may be none: a higher score, or as high a one with
/// a lower loss; or, where they are judged by loss, a lower loss.
bool improves(const BestScore& found, const std::optional<BestScore>& best, bool are_judged_by_loss);

/// Writes it into a checkpoint's state.
void add_best_score(nlohmann::json& state, const BestScore& best);
/// What that has written; none where it has not. Throws base::BadInput as the reader does.
std::optional<BestScore> best_score_in(const core::StateReader& state);

}  // namespace ut::launcher
