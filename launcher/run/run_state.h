#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>

#include "core/state_reader.h"
#include "datasets/training_batches.h"

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

/// What a training run goes on from, beside model and optimizer. Its checkpoints record it.
struct RunState {
  datasets::Cursor cursor = {};  // of the next update
  double hours = 0;
  std::int64_t left_out_in_a_row = 0;  // updates just before that were not finite
  std::int64_t evaluated_at = -1;      // the update that was evaluated last; -1: none
  std::int64_t evaluations_since_best = 0;
  std::optional<BestScore> best = {};  // of validation; its checkpoint exists

  void forget_best();
  /// The fields of a checkpoint's state, and what they say. Throws base::BadInput as the reader does.
  nlohmann::json to_json() const;
  static RunState from_json(const core::StateReader& state);
};

}  // namespace ut::launcher
