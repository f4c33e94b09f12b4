#include "launcher/options/option_checks.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <vector>

#include "base/error.h"
#include "datasets/make_task.h"
#include "datasets/published.h"
#include "launcher/cost/machine_numbers.h"
#include "launcher/options/model_options.h"
#include "launcher/options/option_table.h"
#include "launcher/options/output_file.h"

namespace ut::launcher {
namespace {

/// A model that reads a sequence in order, one position after the other, has no use for these options.
void check_lstm(const Options& options) {
  const core::ModelOptions& model = options.model;
  const auto refuse = [](const char* given, const char* why) {
    throw base::BadInput("{}: not with --model lstm, {}", given, why);
  };
  if (options.sequence_parallel > 1)
    refuse("--sequence-parallel above 1",
           "which reads a sequence in order on one rank; give 1, so that ranks share the batch");
  if (model.halting.any()) refuse("--halting", "whose positions take one step each; leave it out");
  if (model.recompute != core::Recompute::none) refuse("--recompute", "which has no steps to make again; leave it out");
  if (model.bfloat16_products) refuse("--precision bfloat16", "which multiplies in --dtype; leave it out");
}

/// Checks that the ranks fill whole nodes of the data sheet, if no option says how many ranks a node has.
void check_data_sheet(const Options& options) {
  if (options.plan.machine.empty() || options.plan.nodes > 0) return;
  const std::int64_t usual = machine_named(options.plan.machine).ranks_per_node;
  if (options.ranks > usual && options.ranks % usual != 0)
    throw base::BadInput(
        "--ranks: {} given, needs at most {} (a node of {}) or a multiple of that; or give --gpus-per-node",
        options.ranks, usual, options.plan.machine);
}

}  // namespace

void check_heads_suffice(const Options& options, std::int64_t sequence_parallel) {
  const std::int64_t heads = options.model.heads;
  if (options.exchange.form == dist::ExchangeForm::heads && sequence_parallel > heads)
    throw base::BadInput(
        "--exchange heads: {} ranks cannot share the {} heads of a sequence; give --sequence-parallel of at most "
        "--heads, or another --exchange",
        sequence_parallel, heads);
}

void check_together(const Options& options) {
  const auto& model = options.model;
  if (model.kind == core::ModelKind::lstm) check_lstm(options);
  const bool has_heads = model.kind == core::ModelKind::universal;
  if (has_heads && model.d_model % model.heads != 0)
    throw base::BadInput("--heads: is {}, needs a divisor of --d-model, which is {}", model.heads, model.d_model);
  if (options.exchange.form == dist::ExchangeForm::heads) {
    check_heads_suffice(options, options.sequence_parallel);
    if (options.exchange.sent == dist::Sent::states)
      throw base::BadInput(
          "--exchange-sends states: not with --exchange heads, whose ranks need only some heads of a "
          "row's keys and values; give keys-values, or another --exchange");
  }
  if (model.bfloat16_products && model.precision == core::Precision::float64)
    throw base::BadInput(
        "--precision bfloat16: not with --dtype float64; products in bfloat16 need float32 around them");
  if (model.kind == core::ModelKind::universal && model.d_model % 2 != 0)
    throw base::BadInput("--d-model: {} given, needs an even number (sines and cosines)", model.d_model);
  const std::string& task = options.task.task;
  if (std::ranges::count(datasets::file_task_names(), task) > 0 && options.task.data.empty())
    throw base::BadInput("--data: not given, task {} needs the directory of its files{}", task,
                         task == "babi" ? " (ut data stories makes some)" : "");
  const auto& schedule = options.optimizer.schedule;
  if (schedule.kind == core::ScheduleKind::cosine && schedule.warmup >= options.max_updates)
    throw base::BadInput("--warmup: {}, needs fewer than --max-updates, which is {}, for the cosine schedule",
                         schedule.warmup, options.max_updates);
}

void check_training(const Options& options) {
  if (options.target_score > 1)
    throw base::BadInput("--target-score: {} given, needs a number from 0 to 1", options.target_score);
  if (options.checkpoint_every > 0 && options.keep_every % options.checkpoint_every != 0)
    throw base::BadInput("--keep-every {}: needs a multiple of --checkpoint-every, which is {}", options.keep_every,
                         options.checkpoint_every);
}

void check_bench(const Options& options) {
  const BenchOptions& bench = options.bench;
  check_output_file("--profile", bench.profile, "{\"traceEvents\"");
  if (bench.min_length > bench.length)
    throw base::BadInput("--min-length: {} given, needs at most --length, which is {}", bench.min_length, bench.length);
  if (bench.encoder_only && bench.decoder_only)
    throw base::BadInput("--encoder-only: given, and --decoder-only too; give one of the two, or none for both stacks");
  if (bench.decode && bench.encoder_only)
    throw base::BadInput("--greedy: given, but with --encoder-only there is nothing to decode; give one of the two");
  if (bench.ponder_skew != 0 && bench.min_length != 0)
    throw base::BadInput("--bench-skew: not with --min-length; it tells the halves of sequences of one length apart");
  if (bench.ponder == 0) return;
  const core::HaltingOptions& halting = options.model.halting;
  std::vector<std::int64_t> limits;  // of the stacks that halt
  if (halting.encoder != core::Halting::none && !bench.decoder_only) limits.push_back(steps_of(options).encoder);
  if (halting.decoder != core::Halting::none && !bench.encoder_only) limits.push_back(steps_of(options).decoder);
  if (limits.empty())
    throw base::BadInput("--bench-ponder: {} given, but no position halts; needs --halting act or --halting act-copy",
                         bench.ponder);
  const std::int64_t most = *std::ranges::min_element(limits);
  if (bench.ponder > static_cast<double>(most))
    throw base::BadInput(
        "--bench-ponder: {} given, needs at most the {} steps that a position may take (--max-steps, --steps)",
        bench.ponder, most);
  if (bench.ponder * (1 - bench.ponder_skew) < 1 || bench.ponder * (1 + bench.ponder_skew) > static_cast<double>(most))
    throw base::BadInput(
        "--bench-skew: {} given, needs one that gives both halves of a sequence a mean ponder time from 1 to {}, with "
        "--bench-ponder {}",
        bench.ponder_skew, most, bench.ponder);
}

void check_plan(const Options& options) {
  const PlanOptions& plan = options.plan;
  check_output_file("--save-calibration", plan.save_calibration, "{\n  \"source\"");
  if (!plan.machine.empty() && !plan.calibration.empty())
    throw base::BadInput("--machine: {} given, but --calibration has the numbers; give one of the two", plan.machine);
  if (plan.nodes > 0 && options.ranks % plan.nodes != 0)
    throw base::BadInput("--ranks: {} given, needs a multiple of --nodes, which is {}", options.ranks, plan.nodes);
  if (plan.gpus_per_node == 0) return check_data_sheet(options);
  if (plan.nodes == 0 && options.ranks % plan.gpus_per_node != 0)
    throw base::BadInput("--gpus-per-node: {} given, needs a divisor of --ranks, which is {}", plan.gpus_per_node,
                         options.ranks);
  if (plan.nodes > 0 && options.ranks > 0 && options.ranks != plan.nodes * plan.gpus_per_node)
    throw base::BadInput("--ranks: {} given, but --nodes and --gpus-per-node make {}; leave --ranks out", options.ranks,
                         plan.nodes * plan.gpus_per_node);
}

void check_report(const Options& options) {
  const ReportOptions& report = options.report;
  if (report.runs.empty() && report.scaling.empty())
    throw base::BadInput("no run directory given; give one, as in ut report runs/one, or --scaling FILE");
  if (report.runs.empty() && report.out.empty())
    throw base::BadInput("--out: not given, needs the file to write, because no run directory is given to put it in");
  if (!report.svg.empty() && !report.png.empty())
    throw base::BadInput("--png: {} given, but --svg is {}; give one of the two", report.png, report.svg);
  for (const auto& [picture, ending, other] : {std::tuple(report.svg, ".svg", ".png"), {report.png, ".png", ".svg"}})
    if (!picture.empty() && report.out.ends_with(other))
      throw base::BadInput("--out {}: the picture is made as {}; needs another ending, or --{}", report.out, ending,
                           other + 1);
}

void check_given(const Options& options, unsigned command) {
  const bool lacks_out = (command == command_data_stories && options.data.out.empty()) ||
                         (command == command_export && options.model_files.out.empty());
  if (lacks_out) throw base::BadInput("--out: not given, needs the directory to write to");
  if (command == command_import && options.model_files.from.empty())
    throw base::BadInput("--from: not given, needs a directory as ut export writes one");
  if ((command == command_data_sentencepiece || command == command_data_check) && options.task.data.empty())
    throw base::BadInput("--data: not given, needs the directory of the data");
  if (command == command_data_fetch && options.data.name.empty())
    throw base::BadInput("--name: not given, needs a data set: {}", fmt::join(datasets::published_names(), ", "));
  if (command == command_score && options.score.references.empty())
    throw base::BadInput("--reference: not given, needs a file with the right line for each line of standard input");
  check_output_file("--outputs", options.outputs, "{\"number\"");
}

}  // namespace ut::launcher
