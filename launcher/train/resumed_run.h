#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "launcher/run/run_state.h"
#include "launcher/run/session.h"

namespace ut::launcher {

/// A resumed run at its checkpoint, beside model and optimizer.
struct ResumedRun {
  std::filesystem::path checkpoint;
  std::int64_t update = 0;  // the checkpoint's
  RunState state;
  bool was_scored_otherwise = false;  // or on other examples: its best score cannot be compared with those to come
  std::vector<std::string> messages;  // messages for a person
  std::string recorded;               // tells the state from others: the files' digests are in it
};

/// Reads the state of the checkpoint that the options name, not its tensors. `scored_on`: on which examples evaluations
/// are made from now on, and how. Does not look whether the checkpoint of the best is there. Throws base::BadInput if
/// the run cannot go on from there.
ResumedRun resume_run(const Session& session, const std::string& scored_on);

/// Forgets a best whose checkpoint, which is read in full, is gone or damaged. Adds messages on that, and on what is
/// dropped of updates after the checkpoint's. For rank 0. Throws base::BadInput if nothing would replace what is
/// dropped.
void check_later_and_best_checkpoints(const Options& options, ResumedRun& run);

}  // namespace ut::launcher
