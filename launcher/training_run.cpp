#include "launcher/training_run.h"

#include <ATen/ATen.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>
#include <cstdlib>
#include <iostream>
#include <nlohmann/json.hpp>
#include <utility>

#include "core/checkpoint.h"
#include "core/checkpoint_directory.h"
#include "core/make_model.h"
#include "core/state_reader.h"
#include "launcher/options/model_options.h"
#include "launcher/options/option_changes.h"
#include "launcher/options/option_checks.h"
#include "launcher/options/option_table.h"
#include "launcher/process/stop_request.h"
#include "launcher/ranks/agree.h"
#include "launcher/run/evaluation_record.h"
#include "launcher/run/examples_digest.h"
#include "launcher/run/trained_model.h"
#include "launcher/start/rank_environment.h"
#include "launcher/training_size.h"

namespace ut::launcher {
namespace {

bool is_due(std::int64_t update, std::int64_t every) { return every > 0 && update % every == 0; }

const char* plural(int count) { return count == 1 ? "" : "s"; }

}  // namespace

TrainingRun::TrainingRun(Session& session)
    : session_(session),
      model_(
          core::make_model(model_options(session.options, *session.task), session.options.seed, session.mesh.device())),
      optimizer_(session.options.optimizer, model_->parameters()),
      scored_on_(fmt::format("{} of {}", session.options.evaluation_limit,
                             examples_digest(*session.task, datasets::Split::validation))),
      non_finite_(session.options) {
  dist::Communicator& world = session.mesh.world();
  if (session.options.resume) {
    std::string state;
    agree(world, [&] { state = resume(); });
    check_same_state(state, session.options, world);
  }
  agree(world, [&] { input_.emplace(session, update(), cursor_); });
  agree(world, [&] {
    if (!session.speaks()) return;
    Options used = session.options;
    used.ranks = world.size();
    directory_.emplace(used);
    directory_->keep(session.task->kept_files());
    if (used.resume) point_at_checkpoints();
    if (used.resume) truncate_after(evaluations_file(used.run_dir), update());
    metrics_.emplace(directory_->metrics(), used.resume ? update() : -1);
    events_.emplace(directory_->events(), update() + 1);
    progress_.emplace(std::cout, terminal_columns([](const char* name) { return std::getenv(name); }),
                      session.options.quiet);
    say_what_is_trained();
  });
  session.update = update();
  if (best_is_of_others_) score_best_again();
  if (evaluation_is_due()) evaluate();  // a stop came before it
  since_log_ = Stopwatch();
}

void TrainingRun::say_what_is_trained() {
  const TrainingSize size(*model_, session_);
  for (const std::string& line : size.describe()) progress_->say(line);
  if (!directory_->is_locked())
    progress_->say(fmt::format("{} is on a file system without locks: a second training there would not be noticed",
                               session_.options.run_dir));
  if (damaged_best_)
    progress_->say(fmt::format(
        "the best so far, update {}, is gone, or was altered or cut short since it was written; the best of "
        "what comes takes its place",
        *damaged_best_));
  for (const std::string& line : said_of_resuming_) progress_->say(line);
  if (finished()) progress_->say(nothing_left());
  if (std::filesystem::file_size(directory_->metrics()) > 0) return;  // it is there already
  nlohmann::ordered_json record{{"update", 0}};
  record.update(size.to_json());
  metrics_->append(record);
}

std::string TrainingRun::nothing_left() const {
  const double reached = best_ ? std::ceil(best_->score * 1e4) / 1e4 : 0;  // up: at the digits shown, it does go on
  const std::string limit = update() >= session_.options.max_updates ? fmt::format("--max-updates above {}", update())
                            : time_is_over_                          ? fmt::format("--max-hours above {:.3g}", hours())
                            : reached >= 1                           ? "--target-score 0"
                                           : fmt::format("--target-score above {:.4f}, or 0,", reached);
  return fmt::format("nothing is left to train after update {}; {} goes on", update(), limit);
}

void TrainingRun::write_down(const nlohmann::ordered_json& record) {
  metrics_->append(record);
  events_->add(record.at("update").get<std::int64_t>(), summary_of(record));
}

std::string TrainingRun::resume() {
  const Options& options = session_.options;
  if (session_.speaks()) check_run_directory(options);  // ranks would take its lock for one another's
  const auto directory = checkpoint_directory(options.run_dir);
  const auto checkpoint = core::find_checkpoint(directory, options.resume_from);
  const nlohmann::json state = core::read_state(checkpoint);
  const core::StateReader read(state, checkpoint);
  check_as_in_checkpoint(read.text("options", ""), options, checkpoint.string());
  check_vocabulary(checkpoint.string(), read.text("vocabulary", ""), *session_.task);
  core::load_checkpoint(checkpoint, *model_, &optimizer_);
  written_at_ = update();
  say_what_changes(read, checkpoint);
  cursor_ = {read.whole("samples", 0), read.whole("part_of_window", 0)};
  if (update() > options.max_updates)
    throw base::BadInput(
        fmt::format("--max-updates {}: the run is at update {}; give that or more", options.max_updates, update()));
  earlier_hours_ = read.number("hours", 0);
  time_is_over_ = options.max_hours > 0 && earlier_hours_ >= options.max_hours;
  best_ = best_score_in(read);
  evaluated_at_ = read.whole("evaluated_at", -1, -1);
  const bool is_of_others = read.text("scored_on", scored_on_) != scored_on_;
  if (is_of_others) evaluated_at_ = -1;
  const bool is_newest = core::all_checkpoints(directory).front().filename() == core::checkpoint_name(update());
  if (best_ && !is_newest && !core::has_checkpoint(directory, best_->update))
    best_.reset();  // what is done again now had a better
  if (best_ && !core::is_whole(directory / core::checkpoint_name(best_->update)))
    damaged_best_ = std::exchange(best_, std::nullopt)->update;
  best_is_of_others_ = is_of_others && best_;
  check_that_something_comes();
  // The files' digests are in the state; whether the best is there, the directory says.
  return fmt::format("{} {}", state.dump(), best_.has_value());
}

void TrainingRun::say_what_changes(const core::StateReader& read, const std::filesystem::path& checkpoint) {
  const Options& options = session_.options;
  const std::int64_t examples = session_.task->size(datasets::Split::train);
  const std::int64_t examples_before = read.whole("training_examples", 0);  // 0: not known
  if (examples_before > 0 && examples_before != examples)
    said_of_resuming_.push_back(
        fmt::format("the data has changed: {} training examples so far, {} from now on", examples_before, examples));
  const Options before = as_recorded(read.text("options", ""), options, checkpoint.string());
  std::vector<std::string> changes;
  for (const auto& [name, was, is] : changes_between(before, options, command_train))
    changes.push_back(fmt::format("--{} {} ({} so far)", name, is.empty() ? "not given" : is, was.empty() ? "-" : was));
  if (!changes.empty()) said_of_resuming_.push_back(fmt::format("goes on with {}", fmt::join(changes, ", ")));
  const auto rate_by = [&](const Options& given) {
    return core::learning_rate(given.optimizer.schedule, update(), given.max_updates, options.model.d_model);
  };
  if (rate_by(before) != rate_by(options))
    said_of_resuming_.push_back(
        fmt::format("the learning rate is {:.2g} from here on, not {:.2g}", rate_by(options), rate_by(before)));
}

void TrainingRun::check_that_something_comes() {
  const auto checkpoints = core::all_checkpoints(checkpoint_directory(session_.options.run_dir));
  const std::int64_t newest = core::update_of(checkpoints.front().filename().string()).value();
  const std::int64_t recorded = last_update(metrics_file(session_.options.run_dir)).value_or(0);
  const std::int64_t last = std::max(newest, recorded);
  if (last <= update()) return;
  if (newest > update() && finished())
    throw base::BadInput(fmt::format("--checkpoint {}: what came after it would be dropped, and {}",
                                     session_.options.resume_from, nothing_left()));
  said_of_resuming_.push_back(fmt::format("goes on after update {}: what was recorded up to update {} is dropped{}",
                                          update(), last, newest > update() ? ", with the checkpoints" : ""));
}

void TrainingRun::score_best_again() {
  const std::int64_t newest = update();
  if (best_->update != newest) load_on_all_ranks(best_->update);
  const std::optional<Evaluation> result = score(datasets::Split::validation);
  if (best_->update != newest) load_on_all_ranks(newest);
  if (!result) return;
  best_ = {result->accuracy(), result->loss, best_->update};
  if (session_.speaks())
    progress_->say(fmt::format("scored on other examples from now on: update {}, the best so far: validation {}",
                               best_->update, describe(*result, *session_.task)));
}

void TrainingRun::load_on_all_ranks(std::int64_t update) {
  dist::Communicator& world = session_.mesh.world();
  agree(world, [&] {
    if (session_.speaks())
      core::load_checkpoint(checkpoint_directory(session_.options.run_dir) / core::checkpoint_name(update), *model_,
                            nullptr);
  });
  const at::NoGradGuard no_graph;
  const at::Tensor& parameters = model_->parameters().flat();
  if (!session_.speaks()) parameters.fill_(-0.0);  // which added to any number, even -0, leaves it
  world.all_reduce_sum(parameters, dist::Purpose::control);
}

/// As the checkpoint has it that is gone on from: a kill may have come before the pointers, and later ones are done
/// again.
void TrainingRun::point_at_checkpoints() const {
  core::point_at(directory_->checkpoints(), "latest", update());
  if (best_)
    core::point_at(directory_->checkpoints(), "best", best_->update);
  else
    std::filesystem::remove(directory_->checkpoints() / "best");
}

Input TrainingRun::next_input() {
  Input input = input_->next();
  cursor_ = input.next;
  return input;
}

core::LossOptions TrainingRun::loss_of(const datasets::Batch& batch) const {
  const Options& options = session_.options;
  const double grown = options.ponder_warmup == 0
                           ? 1
                           : std::min(1.0, static_cast<double>(update()) / static_cast<double>(options.ponder_warmup));
  // What does not stand in a text has no probability where answers are pointed at.
  const double smoothing = session_.task->points() ? 0 : options.label_smoothing;
  return {batch.labels(), batch.source_rows(), batch.target_rows(), smoothing, options.ponder_weight * grown};
}

void TrainingRun::report(const UpdateResult& result) {
  const Options& options = session_.options;
  const bool over = options.max_hours > 0 && hours() >= options.max_hours;
  const at::Tensor sums =
      at::tensor({result.loss.item<double>(), stop_requested() ? 1.0 : 0.0, over ? 1.0 : 0.0}, at::kDouble);
  session_.mesh.world().all_reduce_sum(sums, dist::Purpose::control);
  Report shown;
  shown.update = update();
  shown.max_updates = options.max_updates;
  shown.loss = sums[0].item<double>();
  shown.learning_rate = result.learning_rate;
  shown.gradient_norm = result.gradient_norm.item<double>();
  if (best_) shown.score = best_->score;
  look_at(shown, result);
  session_.update = update();
  stop_ = sums[1].item<double>() > 0;
  time_is_over_ = sums[2].item<double>() > 0;
  rows_since_log_ += result.rows;
  pondered_since_log_.add(result.pondered);
  shown.rows_per_second = static_cast<double>(rows_since_log_) / std::max(1e-9, since_log_.seconds());
  const bool last = update() >= options.max_updates || stop_ || time_is_over_;
  unrecorded_ = shown;
  if (last || is_due(update(), options.log_every)) log();
  shown.ponder = mean_ponder_;
  if (session_.speaks()) progress_->report(shown, last);
}

void TrainingRun::log() {
  const Report shown = *std::exchange(unrecorded_, std::nullopt);
  Pondered pondered = std::exchange(pondered_since_log_, {});
  if (session_.options.model.halting.any()) pondered.sum_over(session_.mesh.world(), model_->steps());
  if (!session_.speaks()) return;
  const double seconds = std::max(1e-9, since_log_.seconds());
  const double input_wait = input_->waited_seconds() - std::exchange(waited_at_log_, input_->waited_seconds());
  since_log_ = Stopwatch();
  rows_since_log_ = 0;
  nlohmann::ordered_json record{{"update", shown.update},
                                {"loss", shown.loss},
                                {"learning_rate", shown.learning_rate},
                                {"gradient_norm", shown.gradient_norm},
                                {"rows_per_s", shown.rows_per_second},
                                {"input_wait_share", input_wait / seconds},
                                {"hours", hours()}};
  if (!pondered.is_empty()) {
    mean_ponder_ = pondered.mean();
    record["ponder"] = to_json(pondered);
  }
  write_down(record);
}

void TrainingRun::look_at(const Report& shown, const UpdateResult& result) {
  if (std::isfinite(shown.loss) && std::isfinite(shown.gradient_norm)) return non_finite_.went_well();
  const bool here = !result.synchronisation.were_finite() || !std::isfinite(result.loss.item<double>());
  const std::string what = non_finite_.left_out(*model_, shown.loss, here, session_.mesh.world());
  if (session_.speaks()) progress_->say(fmt::format("update {}: {}", update(), what));
}

bool TrainingRun::rank_check_is_due() const {
  return session_.mesh.world().size() > 1 && is_due(update(), session_.options.check_ranks);
}

void TrainingRun::check_ranks() {
  check_same_on_all_ranks(*model_, optimizer_, session_.mesh.world());
  compared_at_ = update();
}

bool TrainingRun::evaluation_is_due() const {
  return !stop_ && update() > 0 && evaluated_at_ != update() && is_due(update(), session_.options.evaluate_every);
}

bool TrainingRun::checkpoint_is_due() const {
  const bool end_writes_it = finished();  // after an evaluation, which it is to tell of
  return is_due(update(), session_.options.checkpoint_every) && written_at_ != update() && !end_writes_it;
}

std::optional<Evaluation> TrainingRun::score(datasets::Split split) {
  const std::int64_t limit = split == datasets::Split::validation ? session_.options.evaluation_limit : 0;
  auto made = evaluate_split(session_, *model_, split, model_->steps(), Scoring::teacher_forced, limit, stop_requested);
  stop_ = !made;
  return made;
}

nlohmann::ordered_json TrainingRun::record_of(datasets::Split split, std::int64_t update,
                                              const Evaluation& found) const {
  const std::string name = datasets::name_of(split);
  nlohmann::ordered_json record{{"update", update}, {"split", name}, {name + "_loss", found.loss}};
  record.update(to_json(found, session_));
  record.erase("loss");  // that of updates has another meaning
  return record;
}

void TrainingRun::evaluate() {
  const Stopwatch evaluating;
  const std::optional<Evaluation> result = score(datasets::Split::validation);
  if (!result) return;
  since_log_.leave_out(evaluating.seconds());
  evaluated_at_ = update();
  const BestScore found{result->accuracy(), result->loss, update()};
  const bool is_best = improves(found, best_);  // a language model's accuracy may for long be 0, while its loss falls
  if (is_best) best_ = found;
  if (session_.speaks()) {
    write_down(record_of(datasets::Split::validation, update(), *result));
    progress_->say(fmt::format("update {}: validation {}{}", update(), describe(*result, *session_.task),
                               is_best ? ", best so far" : ""));
  }
  if (written_at_ == update())
    replace_state();
  else if (is_best)
    write_checkpoint();
  if (is_best && session_.speaks()) core::point_at(directory_->checkpoints(), "best", update());
}

nlohmann::json TrainingRun::state() const {
  nlohmann::json state{{"vocabulary", session_.task->vocabulary().digest()},
                       {"samples", cursor_.sample},
                       {"training_examples", session_.task->size(datasets::Split::train)},
                       {"part_of_window", cursor_.part},
                       {"seed", session_.options.seed},
                       {"encoder_steps", model_->steps().encoder},
                       {"decoder_steps", model_->steps().decoder},
                       {"options", to_config(session_.options)},
                       {"hours", hours()},
                       {"evaluated_at", evaluated_at_},
                       {"scored_on", scored_on_}};
  if (best_) add_best_score(state, *best_);
  return state;
}

void TrainingRun::replace_state() const {
  if (!session_.speaks()) return;
  core::replace_state(directory_->checkpoints() / core::checkpoint_name(update()), state());
}

void TrainingRun::write_checkpoint() {
  const bool are_compared = session_.mesh.world().size() > 1 && session_.options.check_ranks > 0;
  if (are_compared && compared_at_ != update()) check_ranks();  // what is wrong is not to be gone on from
  written_at_ = update();
  if (!session_.speaks()) return;
  const Stopwatch writing;
  core::write_checkpoint(directory_->checkpoints(), *model_, optimizer_, state());
  core::remove_old_checkpoints(directory_->checkpoints(), session_.options.keep_checkpoints,
                               session_.options.keep_every);
  since_log_.leave_out(writing.seconds());
}

bool TrainingRun::finished() const {
  const Options& options = session_.options;
  const bool good_enough = options.target_score > 0 && best_ && best_->score >= options.target_score;
  return update() >= options.max_updates || stop_ || time_is_over_ || good_enough;
}

int TrainingRun::end() {
  if (unrecorded_) log();  // an evaluation has ended it
  if (!stop_ && (evaluated_at_ != update() || !best_)) evaluate();
  if (written_at_ != update()) write_checkpoint();
  if (!stop_) score_test_split();
  if (!stop_) return 0;
  if (session_.speaks())
    progress_->say(fmt::format("stopped on request after update {}; go on with: ut train --run-dir {} --resume",
                               update(), session_.options.run_dir));
  return stopped_on_request;
}

void TrainingRun::score_test_split() {
  const double seconds = since_start_.seconds();
  dist::Communicator& world = session_.mesh.world();
  if (best_->update != update()) load_on_all_ranks(best_->update);
  const std::optional<Evaluation> result = score(datasets::Split::test);
  if (!result || !session_.speaks()) return;
  const nlohmann::ordered_json record = record_of(datasets::Split::test, best_->update, *result);
  const bool is_known = metrics_->has(  // of a run that was done; on another mesh the last bits are others
      {{"update", best_->update}, {"split", "test"}, {"sequences", result->score.sequences}});
  if (!is_known) write_down(record);
  progress_->result(fmt::format("run directory {}", session_.options.run_dir));
  progress_->result(fmt::format("update {}: test {}, {} rank{}, {:.0f} s", best_->update,
                                describe(*result, *session_.task), world.size(), plural(world.size()), seconds));
}

double TrainingRun::hours() const { return earlier_hours_ + since_start_.seconds() / 3600; }

}  // namespace ut::launcher
