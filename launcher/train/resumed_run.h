#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/model.h"
#include "core/optimizer.h"
#include "datasets/training_batches.h"
#include "launcher/run/best_score.h"
#include "launcher/run/session.h"

namespace ut::launcher {

/// What a run that is gone on with was at its checkpoint, beside model and optimizer.
struct ResumedRun {
  datasets::Cursor cursor;  // of the next update
  double hours = 0;
  std::int64_t left_out_in_a_row = 0;  // updates just before it, which were not finite
  std::optional<BestScore> best;       // whose checkpoint is there, as rank 0 has seen
  std::int64_t evaluations_since_best = 0;
  bool best_is_of_others = false;  // scored on others, or otherwise, than those to come: not to be compared
  std::int64_t evaluated_at = -1;  // the update that was; -1: none
  std::vector<std::string> said;   // for a person
  std::string state;               // what tells it from others: the files' digests are in it
};

/// Loads the checkpoint that the options name. `scored_on`: which examples evaluations are made on from now on, and
/// how. Whether the checkpoint of the best is there is not looked at. Throws base::BadInput where the run cannot be
/// taken up there.
ResumedRun resume_run(const Session& session, const std::string& scored_on, core::Model& model, core::Adam& optimizer);

/// Forgets a best whose checkpoint is gone or damaged, all of which is read, and tells of that and of what is dropped
/// of updates after `update`, the checkpoint's. Of rank 0. Throws base::BadInput where nothing would come in the place
/// of what is dropped.
void check_later_and_best_checkpoints(const Options& options, std::int64_t update, ResumedRun& run);

}  // namespace ut::launcher
