#include "launcher/cost/machine_numbers.h"
#include "launcher/options/option_groups.h"
#include "launcher/options/option_kinds.h"

namespace ut::launcher::option_groups {
namespace {

/// X is a mean number of steps: 0 or at least 1.
OptionEntry bench_ponder() {
  return real("bench-ponder", "draw ponder times with this mean instead of asking the halting units; 0: ask them",
              in(&Options::bench, &BenchOptions::ponder), "0 or a number from 1 up to the most steps of a position",
              [](double x) { return x == 0 || x >= 1; });
}

OptionEntry bench_skew() {
  return share("bench-skew",
               "the first half of a sequence ponders longer than the mean by this share, the second half less",
               in(&Options::bench, &BenchOptions::ponder_skew));
}

}  // namespace

void add_bench(Table& table) {
  table.add("Batch", command_bench | command_plan, true,
            {whole("batch", "sequences per update, over all ranks", &Options::batch, 1, 1 << 24),
             whole("length", "number of symbols in a sequence, and in its target",
                   in(&Options::bench, &BenchOptions::length), 1, 1 << 24),
             whole("min-length", "draw lengths between N and --length; 0: all have --length",
                   in(&Options::bench, &BenchOptions::min_length), 0),
             flag("encoder-only", "no decoder and no targets: one label a sequence, read at its first position",
                  in(&Options::bench, &BenchOptions::encoder_only)),
             flag("decoder-only", "no encoder and no sources: a language model",
                  in(&Options::bench, &BenchOptions::decoder_only)),
             whole("vocab", "size of the vocabulary", in(&Options::bench, &BenchOptions::vocabulary), 2, 1 << 24),
             whole("seed", "seed of parameters, dropout, symbols, lengths and drawn ponder times", &Options::seed, 0)});
  table.add("Batch", command_bench | command_plan, true, {bench_ponder()});
  table.add("Measurement", command_bench, true,
            {bench_skew(), whole("iterations", "number of updates to measure, after some warm-up",
                                 in(&Options::bench, &BenchOptions::iterations), 1)});
  table.add("Measurement", command_bench, true,
            {flag("greedy", "measure greedy decoding of --length symbols instead of updates",
                  in(&Options::bench, &BenchOptions::decode))});
  table.add("Measurement", command_bench, false,
            {path("profile", "FILE", "where to write a trace of one more update, for Perfetto or Chrome",
                  in(&Options::bench, &BenchOptions::profile)),
             flag("json", "print the results as one JSON object", &Options::json)});
}

void add_plan(Table& table) {
  const auto file = [](const char* name, const char* description, auto field) {
    return path(name, "FILE", description, field);
  };
  table.add(
      "Machine", command_plan, false,
      {without_default(whole("nodes", "number of nodes in the cluster; default: as many as --ranks need",
                             in(&Options::plan, &PlanOptions::nodes), 1, 1 << 20)),
       without_default(whole("gpus-per-node",
                             "ranks per node, one for each GPU; default: --ranks / --nodes, or as the machine has them",
                             in(&Options::plan, &PlanOptions::gpus_per_node), 1, 1 << 20)),
       without_default(one_of("machine", "take this machine's data sheet instead of measuring here",
                              in(&Options::plan, &PlanOptions::machine), machine_names())),
       file("calibration", "read a machine's numbers from this file instead of measuring here",
            in(&Options::plan, &PlanOptions::calibration)),
       file("save-calibration", "where to write the numbers", in(&Options::plan, &PlanOptions::save_calibration)),
       flag("json", "print the plan as one JSON object", &Options::json)});
}

}  // namespace ut::launcher::option_groups
