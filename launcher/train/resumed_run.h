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

/// The state of a resumed run at its checkpoint, beside model and optimizer.
struct ResumedRun {
  datasets::Cursor cursor;  // of the next update
  double hours = 0;
  std::int64_t left_out_in_a_row = 0;  // updates just before the checkpoint that were not finite
  std::optional<BestScore> best;       // its checkpoint is there, as rank 0 has seen
  std::int64_t evaluations_since_best = 0;
  // Scored on other examples than those to come, or otherwise: not to be compared.
  bool best_is_of_others = false;
  std::int64_t evaluated_at = -1;     // the update that was evaluated last; -1: none
  std::vector<std::string> messages;  // messages for a person
  std::string state;                  // tells the state from others: the files' digests are in it
};

/// Loads the checkpoint that the options name. `scored_on`: on which examples evaluations are made from now on, and
/// how. Does not look whether the checkpoint of the best is there. Throws base::BadInput if the run cannot go on from
/// there.
ResumedRun resume_run(const Session& session, const std::string& scored_on, core::Model& model, core::Adam& optimizer);

/// Forgets a best whose checkpoint, which is read in full, is gone or damaged. Adds messages on that, and on what is
/// dropped of updates after `update`, the checkpoint's. For rank 0. Throws base::BadInput if nothing would replace what
/// is dropped.
void check_later_and_best_checkpoints(const Options& options, std::int64_t update, ResumedRun& run);

}  // namespace ut::launcher
