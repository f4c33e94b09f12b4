#include "launcher/cost/machine_numbers.h"
#include "launcher/options/option_groups.h"
#include "launcher/options/option_kinds.h"

namespace ut::launcher::option_groups {
namespace {

/// 0 or more than 1: X is a mean of numbers of steps.
OptionEntry bench_ponder() {
  return real(
      "bench-ponder", "ponder times are drawn, of this mean, and not decided by halting units; 0: they decide",
      [](auto& o) -> auto& { return o.bench.ponder; }, "0 or a number from 1 up to the most steps of a position",
      [](double x) { return x == 0 || x >= 1; });
}

OptionEntry bench_skew() {
  return share(
      "bench-skew", "by this share the first half of a sequence ponders more than the mean, the second less",
      [](auto& o) -> auto& { return o.bench.ponder_skew; });
}

}  // namespace

void add_bench(Table& table) {
  table.add("Batch", command_bench | command_plan, true,
            {whole(
                 "batch", "sequences per update, over all ranks", [](auto& o) -> auto& { return o.batch; }, 1, 1 << 24),
             whole(
                 "length", "symbols of a sequence, and of its target", [](auto& o) -> auto& { return o.bench.length; },
                 1, 1 << 24),
             whole(
                 "min-length", "lengths are drawn from N to --length; 0: all have that",
                 [](auto& o) -> auto& { return o.bench.min_length; }, 0),
             flag(
                 "encoder-only", "no decoder and no targets: one label a sequence, read at its first position",
                 [](auto& o) -> auto& { return o.bench.encoder_only; }),
             flag(
                 "decoder-only", "no encoder and no sources: a language model",
                 [](auto& o) -> auto& { return o.bench.decoder_only; }),
             whole(
                 "vocab", "different symbols", [](auto& o) -> auto& { return o.bench.vocabulary; }, 2, 1 << 24),
             whole(
                 "seed", "of parameters, dropout, symbols, lengths and drawn ponder times",
                 [](auto& o) -> auto& { return o.seed; }, 0)});
  table.add("Batch", command_bench | command_plan, true, {bench_ponder()});
  table.add("Measurement", command_bench, true,
            {bench_skew(), whole(
                               "iterations", "updates that are measured, after some that are not",
                               [](auto& o) -> auto& { return o.bench.iterations; }, 1)});
  table.add("Measurement", command_bench, true,
            {flag(
                "greedy", "greedy decoding of --length symbols is measured, not updates",
                [](auto& o) -> auto& { return o.bench.decode; })});
  table.add("Measurement", command_bench, false,
            {path(
                 "profile", "FILE", "where a trace of one more update is written, for Perfetto or Chrome",
                 [](auto& o) -> auto& { return o.bench.profile; }),
             flag(
                 "json", "print the results as one JSON object", [](auto& o) -> auto& { return o.json; })});
}

void add_plan(Table& table) {
  const auto file = [](const char* name, const char* description, auto field) {
    return path(name, "FILE", description, field);
  };
  table.add("Machine", command_plan, false,
            {without_default(whole(
                 "nodes", "of the cluster; without it as many as --ranks need",
                 [](auto& o) -> auto& { return o.plan.nodes; }, 1, 1 << 20)),
             without_default(whole(
                 "gpus-per-node",
                 "ranks of a node, one for each GPU; without it --ranks / --nodes, or as the machine has them",
                 [](auto& o) -> auto& { return o.plan.gpus_per_node; }, 1, 1 << 20)),
             without_default(one_of(
                 "machine", "by its data sheet instead of measuring", [](auto& o) -> auto& { return o.plan.machine; },
                 machine_names())),
             file(
                 "calibration", "numbers of a machine, instead of measuring",
                 [](auto& o) -> auto& { return o.plan.calibration; }),
             file(
                 "save-calibration", "where the numbers are written",
                 [](auto& o) -> auto& { return o.plan.save_calibration; }),
             flag(
                 "json", "print the plan as one JSON object", [](auto& o) -> auto& { return o.json; })});
}

}  // namespace ut::launcher::option_groups
