#include "launcher/train/resumed_run.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "core/checkpoint.h"
#include "core/checkpoint_directory.h"
#include "core/state_reader.h"
#include "launcher/options/option_changes.h"
#include "launcher/options/option_table.h"
#include "launcher/options/record_checks.h"
#include "launcher/run/examples_digest.h"
#include "launcher/run/metrics.h"
#include "launcher/run/run_directory.h"
#include "launcher/run/trained_model.h"
#include "launcher/run/training_limit.h"

namespace ut::launcher {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> what_changes(const Session& session, const core::StateReader& read, const fs::path& checkpoint,
                                      std::int64_t update) {
  const Options& options = session.options;
  std::vector<std::string> messages;
  const std::int64_t examples = session.task->size(datasets::Split::train);
  const std::int64_t examples_before = read.whole("training_examples", 0);  // 0: unknown
  if (examples_before > 0 && examples_before != examples)
    messages.push_back(
        fmt::format("the data has changed: {} training examples so far, {} from now on", examples_before, examples));
  const std::string digest = examples_digest(*session.task, datasets::Split::train);
  if (examples_before == examples && read.text("training_digest", digest) != digest)
    messages.emplace_back("the data has changed: the training examples are others than so far");
  const Options before = as_recorded(read.text("options", ""), options, checkpoint.string());
  std::vector<std::string> changes;
  for (const auto& [name, was, is] : changes_between(before, options, command_train))
    changes.push_back(fmt::format("--{} {} ({} so far)", name, is.empty() ? "not given" : is, was.empty() ? "-" : was));
  if (!changes.empty()) messages.push_back(fmt::format("goes on with {}", fmt::join(changes, ", ")));
  const auto rate_by = [&](const Options& given) {
    return core::learning_rate(given.optimizer.schedule, update, given.max_updates, options.model.d_model);
  };
  if (rate_by(before) != rate_by(options))
    messages.push_back(
        fmt::format("the learning rate is {:.2g} from here on, not {:.2g}", rate_by(options), rate_by(before)));
  return messages;
}

/// Forgets the best so far if its checkpoint is gone or damaged, and says so.
void check_best(const fs::path& directory, std::int64_t update, ResumedRun& run) {
  if (!run.state.best) return;
  const std::int64_t best = run.state.best->update;
  if (best == update || core::is_whole(directory / core::checkpoint_name(best))) return;
  run.state.forget_best();
  const bool is_newest = core::all_checkpoints(directory).front().filename() == core::checkpoint_name(update);
  // Otherwise one of the updates that are now done again had a better score.
  if (is_newest || core::has_checkpoint(directory, best))
    run.messages.push_back(fmt::format(
        "the checkpoint of the best update so far, {}, is gone or damaged; the best update from now on takes its place",
        best));
}

/// Adds a message on what is dropped of later updates. Throws base::BadInput if checkpoints are and nothing would come.
void check_that_something_comes(const Options& options, std::int64_t update, const RunState& run,
                                std::vector<std::string>& messages) {
  const auto checkpoints = core::all_checkpoints(checkpoint_directory(options.run_dir));
  const std::int64_t newest = core::update_of(checkpoints.front().filename().string()).value();
  const std::int64_t recorded = newest_update(metrics_file(options.run_dir)).value_or(0);
  const std::int64_t last = std::max(newest, recorded);
  if (last <= update) return;
  const bool time_is_over = options.max_hours > 0 && run.hours >= options.max_hours;
  const std::string limit = limit_reached(options, update, run, time_is_over);
  if (newest > update && !limit.empty())
    throw base::BadInput("--checkpoint {}: what came after it would be dropped, and {}", options.resume_from,
                         nothing_left(update, limit));
  messages.push_back(fmt::format("goes on after update {}: the records of later updates, up to {}, are dropped{}",
                                 update, last, newest > update ? ", and so are their checkpoints" : ""));
}

}  // namespace

ResumedRun resume_run(const Session& session, const std::string& scored_on) {
  const Options& options = session.options;
  // On rank 0 alone: ranks would take one another's lock for that of another process.
  if (session.speaks()) check_run_directory(options);
  const auto directory = checkpoint_directory(options.run_dir);
  ResumedRun run;
  run.checkpoint = core::find_checkpoint(directory, options.resume_from);
  const auto& checkpoint = run.checkpoint;
  const nlohmann::json state = core::read_state(checkpoint);
  const core::StateReader read(state, checkpoint);
  check_as_in_checkpoint(read.text("options", ""), options, checkpoint.string(), command_train);
  check_vocabulary(checkpoint.string(), read.text("vocabulary", ""), *session.task);
  run.update = read.whole("update", 0);
  if (run.update > options.max_updates)
    throw base::BadInput("--max-updates {}: the run is at update {}; give that or more", options.max_updates,
                         run.update);
  run.state = RunState::from_json(read);
  const std::string usual = options.evaluation_scoring == Scoring::teacher_forced ? scored_on : "";
  // A checkpoint that does not say was scored as usual.
  run.was_scored_otherwise = read.text("scored_on", usual) != scored_on;
  if (run.was_scored_otherwise) {
    run.state.evaluated_at = -1;
    run.state.evaluations_since_best = 0;
  }
  run.messages = what_changes(session, read, checkpoint, run.update);
  run.recorded = state.dump();
  return run;
}

void check_later_and_best_checkpoints(const Options& options, ResumedRun& run) {
  check_best(checkpoint_directory(options.run_dir), run.update, run);
  RunState state = run.state;
  if (run.was_scored_otherwise) state.best.reset();  // to be scored again
  check_that_something_comes(options, run.update, state, run.messages);
}

}  // namespace ut::launcher
