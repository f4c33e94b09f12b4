#include "launcher/train/training_run.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>
#include <fmt/format.h>

#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <vector>

#include "base/counted.h"
#include "base/shell_word.h"
#include "core/checkpoint.h"
#include "core/checkpoint_directory.h"
#include "core/make_model.h"
#include "launcher/options/model_options.h"
#include "launcher/options/option_record.h"
#include "launcher/process/stop_request.h"
#include "launcher/ranks/agree.h"
#include "launcher/ranks/rank_checks.h"
#include "launcher/ranks/rank_hosts.h"
#include "launcher/ranks/shared_values.h"
#include "launcher/run/describe_evaluation.h"
#include "launcher/run/evaluation_record.h"
#include "launcher/run/examples_digest.h"
#include "launcher/run/training_limit.h"
#include "launcher/train/training_size.h"

namespace ut::launcher {
namespace {

bool is_due(std::int64_t update, std::int64_t every) { return every > 0 && update % every == 0; }

/// If it differs, scores cannot be compared.
std::string what_is_scored(const Session& session, Scoring scoring) {
  const BestBy by = session.options.best_by;
  return fmt::format("{} of {}{}{}", session.options.evaluation_limit,
                     examples_digest(*session.task, datasets::Split::validation),
                     scoring == Scoring::decoded ? ", decoded" : "",
                     by == BestBy::automatic ? "" : fmt::format(", by {}", static_cast<int>(by)));
}

}  // namespace

TrainingRun::TrainingRun(Session& session)
    : session_(session),
      model_(
          core::make_model(model_options(session.options, *session.task), session.options.seed, session.mesh.device())),
      optimizer_(session.options.optimizer, model_->parameters()),
      scoring_(session.task->has_outputs() ? session.options.evaluation_scoring : Scoring::teacher_forced),
      scored_on_(what_is_scored(session, scoring_)),
      training_digest_(examples_digest(*session.task, datasets::Split::train)),
      non_finite_(session.options) {
  dist::Communicator& world = session.mesh.world();
  if (session.options.resume) resume();
  agree(world, [&] { input_.emplace(session, update(), state_.cursor); });
  agree(world, [&] {
    if (session.speaks()) {
      Options used = session.options;
      used.ranks = world.size();
      used.sequence_parallel = used.recorded_sequence_parallel;
      directory_.emplace(used);
      directory_->keep(session.task->kept_files());
      if (used.resume) point_at_checkpoints();
    }
    log_.emplace(session, directory_ ? &*directory_ : nullptr, update());
    if (session.speaks()) say_what_is_trained();
  });
  session.update = update();
  if (resumed_.was_scored_otherwise && state_.best) score_best_again();
  if (const std::string reached = limit(); !reached.empty()) log_->say(nothing_left(update(), reached));
  if (evaluation_is_due()) evaluate();  // a stop came before it could be made
  if (!stop_) stop_ = is_so_on_any(world, stop_requested());
  log_->start();
}

void TrainingRun::resume() {
  const Options& options = session_.options;
  agree(session_.mesh.world(), [&] { resumed_ = resume_run(session_, scored_on_); });
  check_same_state(resumed_.recorded, options, session_.mesh.world());
  load_on_all_ranks(resumed_.checkpoint, &optimizer_);
  optimizer_.restore(resumed_.update);
  run_on_first_or_refuse(session_.mesh.world(), [&] { check_later_and_best_checkpoints(options, resumed_); });
  state_ = resumed_.state;
  if (!is_so_on_first(session_.mesh.world(), state_.best.has_value())) state_.forget_best();
  written_at_ = update();
  non_finite_.resume(state_.left_out_in_a_row);
  time_is_over_ = options.max_hours > 0 && state_.hours >= options.max_hours;
}

void TrainingRun::say_what_is_trained() {
  const TrainingSize size(*model_, session_);
  for (const std::string& line : size.describe()) log_->say(line);
  if (!directory_->is_locked())
    log_->say(fmt::format("{} is on a file system without locks: a second training there would not be noticed",
                          session_.options.run_dir));
  for (const std::string& line : resumed_.messages) log_->say(line);
  if (log_->has_records()) return;
  nlohmann::ordered_json record{{"update", 0}};
  record.update(size.to_json());
  log_->note(record);
}

std::string TrainingRun::limit() const { return limit_reached(session_.options, update(), state(), time_is_over_); }

void TrainingRun::score_best_again() {
  const std::int64_t newest = update();
  log_->say(
      fmt::format("the validation examples or the scoring have changed; update {}, the best so far, is scored again",
                  state_.best->update));
  if (state_.best->update == newest) {
    state_.best.reset();
    return evaluate();
  }
  load_on_all_ranks(state_.best->update);
  const std::optional<Evaluation> result = score(datasets::Split::validation);
  load_on_all_ranks(newest);
  if (!result) return;
  state_.best = {result->steering_score(session_.options.best_by), result->loss, state_.best->update};
  log_->say(fmt::format("update {}: validation {}", state_.best->update, describe_in_a_line(*result, *session_.task)));
}

void TrainingRun::load_on_all_ranks(const std::filesystem::path& checkpoint, core::Adam* optimizer) {
  dist::Communicator& world = session_.mesh.world();
  run_on_first_or_refuse(world, [&] { core::load_checkpoint(checkpoint, model_->parameters(), optimizer); });
  std::vector<at::Tensor> loaded = {model_->parameters().flat()};
  if (optimizer != nullptr) loaded.insert(loaded.end(), {optimizer->first_moment(), optimizer->second_moment()});
  const at::NoGradGuard no_graph;
  for (const at::Tensor& tensor : loaded) {
    // Adding -0 changes no number, not even -0.
    if (!session_.speaks()) tensor.fill_(-0.0);
    world.all_reduce_sum(tensor, dist::Purpose::control);
  }
}

void TrainingRun::load_on_all_ranks(std::int64_t update) {
  load_on_all_ranks(checkpoint_directory(session_.options.run_dir) / core::checkpoint_name(update), nullptr);
}

/// Sets the pointers as the checkpoint that the run resumes from has them: a kill may have come before they were set,
/// and later checkpoints are made again.
void TrainingRun::point_at_checkpoints() const {
  core::point_at(directory_->checkpoints(), "latest", update());
  if (state_.best)
    core::point_at(directory_->checkpoints(), "best", state_.best->update);
  else
    std::filesystem::remove(directory_->checkpoints() / "best");
}

Input TrainingRun::next_input() {
  Input input = input_->next();
  state_.cursor = input.next;
  return input;
}

core::LossOptions TrainingRun::loss_of(const datasets::Batch& batch) const {
  const Options& options = session_.options;
  const double grown = options.ponder_warmup == 0
                           ? 1
                           : std::min(1.0, static_cast<double>(update()) / static_cast<double>(options.ponder_warmup));
  // If answers are pointed at, what does not stand in the text has no probability.
  const double smoothing = session_.task->points() ? 0 : options.label_smoothing;
  return {batch.labels(), batch.source_rows(), batch.target_rows(), smoothing, options.ponder_weight * grown};
}

void TrainingRun::report(const UpdateResult& result) {
  const Options& options = session_.options;
  const bool over = options.max_hours > 0 && hours() >= options.max_hours;
  const bool old = session_.speaks() && options.checkpoint_minutes > 0 &&
                   since_written_.seconds() >= 60 * options.checkpoint_minutes;
  const auto gradient_norm = result.gradient_norm.item<double>();
  const at::Tensor sums = at::tensor({result.loss.item<double>(), stop_requested() ? 1.0 : 0.0, over ? 1.0 : 0.0,
                                      std::isfinite(gradient_norm) ? 0.0 : 1.0, old ? 1.0 : 0.0},
                                     at::kDouble);
  session_.mesh.world().all_reduce_sum(sums, dist::Purpose::control);
  ShownUpdate shown;
  shown.update = update();
  shown.max_updates = options.max_updates;
  shown.loss = sums[0].item<double>();
  shown.learning_rate = result.learning_rate;
  shown.gradient_norm = gradient_norm;
  if (state_.best) shown.score = state_.best->score;
  if (options.max_hours > 0) shown.seconds_allowed = 3600 * (options.max_hours - hours());
  const auto without_norm = sums[3].item<double>();  // ranks that have left the update out
  if (without_norm > 0 && without_norm < session_.mesh.world().size()) check_ranks();
  note_non_finite(shown.loss, without_norm == 0, result);
  session_.update = update();
  stop_ = sums[1].item<double>() > 0;
  time_is_over_ = sums[2].item<double>() > 0;
  checkpoint_is_old_ = sums[4].item<double>() > 0;
  log_->take(shown, result.rows, result.ponder_times);
  const bool last = update() >= options.max_updates || stop_ || time_is_over_;
  if (last || is_due(update(), options.log_every)) record_updates();
  log_->show(last);
}

void TrainingRun::record_updates() { log_->record_updates(model_->steps(), input_->waited_seconds(), hours()); }

void TrainingRun::note_non_finite(double loss, bool norms_are_finite, const UpdateResult& result) {
  if (std::isfinite(loss) && norms_are_finite) return non_finite_.went_well();
  const bool here = !result.synchronisation.were_finite() || !std::isfinite(result.loss.item<double>());
  log_->say(fmt::format("update {}: {}", update(), non_finite_.left_out(*model_, loss, here, session_.mesh.world())));
}

bool TrainingRun::rank_check_is_due() const {
  return session_.mesh.world().size() > 1 && is_due(update(), session_.options.check_ranks);
}

void TrainingRun::check_ranks() {
  check_same_on_all_ranks(*model_, optimizer_, session_.mesh.world());
  compared_at_ = update();
}

bool TrainingRun::evaluation_is_due() const {
  return !stop_ && update() > 0 && state_.evaluated_at != update() && is_due(update(), session_.options.evaluate_every);
}

bool TrainingRun::checkpoint_is_due() const {
  const bool end_writes_it = finished();                  // after the evaluation, so as to record its score
  const bool may_be_spoilt = non_finite_.in_a_row() > 0;  // the model itself, not only an update
  const bool is_time = checkpoint_is_old_ || is_due(update(), session_.options.checkpoint_every);
  return is_time && written_at_ != update() && !end_writes_it && !may_be_spoilt;
}

std::optional<Evaluation> TrainingRun::score(datasets::Split split) {
  const std::int64_t limit = split == datasets::Split::validation ? session_.options.evaluation_limit : 0;
  const auto stop = [this] { return is_so_on_any(session_.mesh.world(), stop_requested()); };
  const auto made_by = [&](Scoring scoring) {
    return evaluate_split(session_, *model_, split, model_->steps(), scoring, limit, stop);
  };
  std::optional<Evaluation> made = made_by(Scoring::teacher_forced);
  if (made && scoring_ == Scoring::decoded) {
    const double loss = made->loss;  // over the right symbols; decoding has no loss
    made = made_by(Scoring::decoded);
    if (made) made->loss = loss;
  }
  if (!made) stop_ = true;
  return made;
}

nlohmann::ordered_json TrainingRun::record_of(datasets::Split split, std::int64_t update,
                                              const Evaluation& found) const {
  const std::string name = datasets::name_of(split);
  nlohmann::ordered_json record{{"update", update}, {"split", name}, {name + "_loss", found.loss}};
  if (session_.task->has_outputs()) record["scoring"] = name_of(scoring_);
  record.update(to_json(found, session_));
  record["examples_digest"] = examples_digest(*session_.task, split);
  record.erase("loss");  // in an update's record it means something else
  return record;
}

void TrainingRun::evaluate() {
  log_->pause();
  const std::optional<Evaluation> result = score(datasets::Split::validation);
  log_->go_on();
  if (!result) return;
  state_.evaluated_at = update();
  const BestScore found{result->steering_score(session_.options.best_by), result->loss, update()};
  loss_was_not_finite_ = !std::isfinite(found.loss);
  const bool is_best = !loss_was_not_finite_ && improves(found, state_.best, session_.task->is_judged_by_loss());
  if (is_best) state_.best = found;
  state_.evaluations_since_best = is_best ? 0 : state_.evaluations_since_best + 1;
  if (session_.speaks()) {
    log_->record(record_of(datasets::Split::validation, update(), *result));
    log_->say(fmt::format("update {}: validation {}{}", update(), describe_in_a_line(*result, *session_.task),
                          is_best ? ", best so far" : ""));
  }
  if (written_at_ == update())
    replace_state();
  else if (is_best)
    write_checkpoint();
  if (is_best && session_.speaks()) core::point_at(directory_->checkpoints(), "best", update());
}

RunState TrainingRun::state() const {
  RunState now = state_;
  now.hours = hours();
  now.left_out_in_a_row = non_finite_.in_a_row();
  return now;
}

nlohmann::json TrainingRun::record_of_state() const {
  nlohmann::json record = state().to_json();
  record.update({{"vocabulary", session_.task->vocabulary().digest()},
                 {"training_examples", session_.task->size(datasets::Split::train)},
                 {"training_digest", training_digest_},
                 {"seed", session_.options.seed},
                 {"encoder_steps", model_->steps().encoder},
                 {"decoder_steps", model_->steps().decoder},
                 {"options", to_config(session_.options)},
                 {"scored_on", scored_on_}});
  return record;
}

void TrainingRun::replace_state() const {
  if (!session_.speaks()) return;
  core::replace_state(directory_->checkpoints() / core::checkpoint_name(update()), record_of_state());
}

void TrainingRun::write_checkpoint() {
  log_->pause();
  const bool are_compared = session_.mesh.world().size() > 1 && session_.options.check_ranks > 0;
  if (are_compared && compared_at_ != update()) check_ranks();  // no run is to go on from what is wrong
  check_finite(*model_, optimizer_, written_at_, session_.mesh.world());
  written_at_ = update();
  since_written_ = Stopwatch();
  checkpoint_is_old_ = false;
  run_on_first(session_.mesh.world(), [&] {
    log_->sync();  // a run goes on from here with the lines before
    core::write_checkpoint(directory_->checkpoints(), *model_, optimizer_, record_of_state());
    if (loss_was_not_finite_ || non_finite_.in_a_row() > 0) return;  // older ones stay: this one may be spoilt
    core::remove_old_checkpoints(directory_->checkpoints(), session_.options.keep_checkpoints,
                                 session_.options.keep_every);
  });
  log_->go_on();
}

bool TrainingRun::finished() const { return stop_ || !limit().empty(); }

int TrainingRun::end() {
  if (log_->is_behind()) record_updates();  // an evaluation has ended training
  if (!stop_ && (state_.evaluated_at != update() || (!state_.best && !loss_was_not_finite_))) evaluate();
  if (written_at_ != update()) write_checkpoint();
  if (!stop_ && !state_.best)
    throw FailureOfRank(0, text_of_rank(host_name(), 0, session_.mesh.world()),
                        "the validation loss is not finite, so there is no model to test; a smaller --learning-rate "
                        "may help");
  if (!stop_) score_test_split();
  if (!stop_) return 0;
  log_->say(fmt::format("stopped on request after update {}; go on with: ut train --run-dir {} --resume", update(),
                        base::shell_word(session_.options.run_dir)));
  return stopped_on_request;
}

void TrainingRun::score_test_split() {
  const double seconds = since_start_.seconds();
  dist::Communicator& world = session_.mesh.world();
  if (state_.best->update != update()) load_on_all_ranks(state_.best->update);
  const std::optional<Evaluation> result = score(datasets::Split::test);
  if (!result || !session_.speaks()) return;
  const nlohmann::ordered_json record = record_of(datasets::Split::test, state_.best->update, *result);
  // A run that had ended before has recorded this already.
  nlohmann::ordered_json known;
  for (const char* name : {"update", "sequences", "test_loss", "accuracy", "sequence_accuracy", "scoring", "bleu"})
    if (record.contains(name)) known[name] = record.at(name);
  const bool is_known = log_->has_newest({{"split", "test"}}, known);
  if (!is_known) log_->record(record);
  log_->result(fmt::format("run directory {}", session_.options.run_dir));
  log_->result(fmt::format("update {}: test {}, {}, {:.0f} s", state_.best->update,
                           describe_in_a_line(*result, *session_.task), base::counted(world.size(), "rank"), seconds));
}

double TrainingRun::hours() const { return state_.hours + since_start_.seconds() / 3600; }

}  // namespace ut::launcher
