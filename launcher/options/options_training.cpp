#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <csignal>
#include <sstream>

#include "launcher/options/option_groups.h"
#include "launcher/options/option_kinds.h"

namespace ut::launcher::option_groups {
namespace {

using core::OptimizerOptions;
using core::ScheduleOptions;

constexpr std::int64_t largest_offset = std::int64_t{1} << 40;  // far below where positions would overflow

OptionEntry schedule() {
  auto entry = choice("schedule", "schedule of the learning rate",
                      in(&Options::optimizer, &OptimizerOptions::schedule, &ScheduleOptions::kind),
                      {{"inverse-square-root", core::ScheduleKind::inverse_square_root},
                       {"constant", core::ScheduleKind::constant},
                       {"cosine", core::ScheduleKind::cosine}});
  entry.set = [set = entry.set](Options& options, const std::string& text) {
    auto& chosen = options.optimizer.schedule;
    const bool was_factor = chosen.kind == core::ScheduleKind::inverse_square_root;
    if (!set(options, text)) return false;
    const bool is_factor = chosen.kind == core::ScheduleKind::inverse_square_root;
    // With inverse-square-root the learning rate is a factor of order 1, otherwise the rate itself. A value for one
    // does not suit the other.
    if (is_factor != was_factor) {
      chosen.learning_rate = is_factor ? 2.0 : 1e-3;
      chosen.warmup = is_factor ? 8000 : 300;
    }
    return true;
  };
  return applied_first(entry);
}

void add_optimizer(Table& table) {
  table.add(
      "Training", command_train, true,
      {schedule(),
       may_change_on_resume(
           positive("learning-rate", "learning rate; with inverse-square-root the constant factor, by default 2",
                    in(&Options::optimizer, &OptimizerOptions::schedule, &ScheduleOptions::learning_rate))),
       whole("warmup", "updates until the full learning rate; with inverse-square-root by default 8000",
             in(&Options::optimizer, &OptimizerOptions::schedule, &ScheduleOptions::warmup), 0),
       share("beta1", "Adam: decay of the gradient's running mean", in(&Options::optimizer, &OptimizerOptions::beta1)),
       share("beta2", "Adam: decay of the squared gradient's running mean",
             in(&Options::optimizer, &OptimizerOptions::beta2)),
       real("epsilon", "Adam: added to the root in the denominator",
            in(&Options::optimizer, &OptimizerOptions::epsilon), "a number from 1e-30 to 1e15",
            [](double x) { return x >= 1e-30; }),
       not_negative("weight-decay", "weight decay, decoupled from the gradient",
                    in(&Options::optimizer, &OptimizerOptions::weight_decay)),
       choice("weight-decay-of",
              "what decays: all parameters, the bias of the halting unit included, or matrices alone, without biases "
              "and the scales of norms",
              in(&Options::optimizer, &OptimizerOptions::decayed),
              {{"all", core::DecayedParameters::all}, {"matrices", core::DecayedParameters::matrices}}),
       not_negative("clip-norm", "clip the gradient to this global norm; 0: no clipping",
                    in(&Options::optimizer, &OptimizerOptions::clip_norm))});
}

const std::vector<std::pair<std::string, int>>& signal_names() {
  static const std::vector<std::pair<std::string, int>> names = {
      {"TERM", SIGTERM}, {"USR1", SIGUSR1}, {"USR2", SIGUSR2}, {"INT", SIGINT}, {"HUP", SIGHUP}, {"XCPU", SIGXCPU}};
  return names;
}

/// Names of signals, separated by commas.
OptionEntry stop_signals() {
  const std::string known = "among TERM, USR1, USR2, INT, HUP and XCPU";
  OptionEntry entry =
      entry_named("stop-signals", "NAMES",
                  "signals that end training with a checkpoint, after the update or within an evaluation, " + known +
                      "; USR1 always does",
                  "names of signals, as TERM,USR1,INT, " + known);
  entry.set = [](Options& options, const std::string& text) {
    options.stop_signals.clear();
    std::istringstream list(text);
    for (std::string name; std::getline(list, name, ',');) {
      const auto found = std::ranges::find(signal_names(), name, &std::pair<std::string, int>::first);
      if (found == signal_names().end()) return false;
      options.stop_signals.push_back(found->second);
    }
    return !options.stop_signals.empty();
  };
  entry.get = [](const Options& options) {
    std::vector<std::string> names;
    for (const int signal : options.stop_signals)
      names.push_back(std::ranges::find(signal_names(), signal, &std::pair<std::string, int>::second)->first);
    return fmt::format("{}", fmt::join(names, ","));
  };
  return may_change_on_resume(entry);
}

void add_batches(Table& table) {
  table.add(
      "Training", command_train, true,
      {whole("batch", "sequences per micro-batch, over all ranks", &Options::batch, 1, 1 << 24),
       whole("batch-rows",
             "instead of --batch: rows per micro-batch, source and target together, over all ranks; 0: use --batch",
             &Options::batch_rows, 0, 1 << 30),
       whole("batch-window",
             "with --batch-rows: number of successive examples that are sorted by length; 0: enough for some 16 "
             "micro-batches",
             &Options::batch_window, 0, 1 << 20),
       whole("accumulate", "micro-batches per update", &Options::accumulate, 1, 1 << 20),
       share("label-smoothing", "probability that is shared among all other symbols", &Options::label_smoothing),
       whole("random-offset", "largest random offset of a sequence's positions; 0: none", &Options::random_offset, 0,
             largest_offset),
       whole("seed", "seed of parameters, dropout and the order of examples", &Options::seed, 0)});
}

void add_ends(Table& table) {
  table.add("Training", command_train, true,
            {may_change_on_resume(whole("max-updates", "end after this many updates", &Options::max_updates, 1)),
             may_change_on_resume(
                 not_negative("max-hours", "end after this many hours of training; 0: no limit", &Options::max_hours)),
             may_change_on_resume(not_negative(
                 "target-score", "end once the best validation has this score (--best-by), such as 0.98; 0: no limit",
                 &Options::target_score)),
             may_change_on_resume(whole("patience",
                                        "end after this many evaluations in a row without a new best; 0: no limit",
                                        &Options::patience, 0))});
}

/// Options on what is evaluated, logged and kept.
void add_monitoring(Table& table) {
  table.add(
      "Training", command_train, true,
      {may_change_on_resume(whole("log-every", "updates between lines of metrics.jsonl", &Options::log_every, 1)),
       may_change_on_resume(
           whole("evaluate-every", "updates between evaluations; 0: only at the end", &Options::evaluate_every, 0)),
       may_change_on_resume(choice("evaluation-scoring",
                                   "what evaluations score: each symbol given the right ones before it, or greedily "
                                   "decoded outputs",
                                   &Options::evaluation_scoring,
                                   {{"teacher-forced", Scoring::teacher_forced}, {"decoded", Scoring::decoded}})),
       may_change_on_resume(choice("best-by",
                                   "which score decides the best, --target-score and --patience: accuracy of symbols "
                                   "(or answers) or of whole sequences, their ends included, or BLEU / 100; auto: BLEU "
                                   "of decoded translations, otherwise symbols",
                                   &Options::best_by,
                                   {{"auto", BestBy::automatic},
                                    {"symbols", BestBy::symbols},
                                    {"sequences", BestBy::sequences},
                                    {"bleu", BestBy::bleu}})),
       may_change_on_resume(whole("checkpoint-every",
                                  "updates between checkpoints; 0: only for a new best and at the end",
                                  &Options::checkpoint_every, 0)),
       may_change_on_resume(not_negative("checkpoint-minutes",
                                         "minutes after the newest checkpoint until another; 0: none by the clock",
                                         &Options::checkpoint_minutes)),
       may_change_on_resume(whole("keep-checkpoints", "how many of the newest checkpoints are kept, besides the best",
                                  &Options::keep_checkpoints, 1)),
       may_change_on_resume(whole("keep-every", "updates between checkpoints that are kept for good; 0: none are",
                                  &Options::keep_every, 0))});
}

/// Options on what may go wrong.
void add_checks(Table& table) {
  table.add(
      "Training", command_train, true,
      {may_change_on_resume(choice("on-nonfinite", "what to do with an update whose loss or gradients are not finite",
                                   &Options::on_nonfinite, {{"skip", OnNonFinite::skip}, {"stop", OnNonFinite::stop}})),
       may_change_on_resume(whole("nonfinite-limit",
                                  "how many such updates in a row are skipped; one more ends the run",
                                  &Options::nonfinite_limit, 1)),
       may_change_on_resume(whole("check-ranks",
                                  "updates between checks that all ranks' parameters are the same bits; 0: none",
                                  &Options::check_ranks, 0))});
}

}  // namespace

void add_training(Table& table) {
  add_batches(table);
  add_optimizer(table);
  add_ends(table);
  add_monitoring(table);
  add_checks(table);
}

void add_model_files(Table& table) {
  table.add("Model files", command_export, false,
            {path("out", "DIR", "directory to create, for model.safetensors, config.json and vocabulary.txt",
                  in(&Options::model_files, &ModelExchangeOptions::out)),
             whole("examples", "number of test examples whose symbols and logits are written to examples.safetensors",
                   in(&Options::model_files, &ModelExchangeOptions::examples), 0)});
  table.add("Model files", command_import, false,
            {path("from", "DIR", "directory made by ut export or another program",
                  in(&Options::model_files, &ModelExchangeOptions::from))});
}

void add_run(Table& table) {
  table.add("Run", run_commands | model_file_commands, false,
            {path("run-dir", "DIR", "directory of the run: options, metrics, checkpoints", &Options::run_dir)});
  table.add(
      "Run", command_doctor, false,
      {path("run-dir", "DIR", "directory of runs, which every rank should be able to write to", &Options::run_dir)});
  table.add("Run", command_train, true, {stop_signals()});
  table.add("Run", command_train, false,
            {flag("resume", "continue the run in --run-dir from its latest checkpoint", &Options::resume),
             checkpoint("with --resume: continue from latest, best or update-N; what came after it is done again",
                        &Options::resume_from)});
  table.add("Run", every_command, false, {flag("quiet", "print only errors and results", &Options::quiet)});
}

}  // namespace ut::launcher::option_groups
