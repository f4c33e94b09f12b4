#include <algorithm>
#include <atomic>

#include "launcher/bench/bench_run.h"
#include "launcher/plan/probe.h"
#include "launcher/process/stopwatch.h"

namespace ut::launcher {
namespace {

/// A part of the work small enough for an update of it to take a moment.
Workload small_part(const Workload& work, const Layout& layout, const MachineNumbers& numbers) {
  constexpr double moment = 0.2;
  constexpr std::int64_t longest = 256;
  constexpr std::int64_t rows = 1024;
  constexpr std::int64_t shortest = 8;
  Workload part = work;
  part.micro_batches = 1;
  part.length_spread = 1;
  part.longest = std::min(work.longest, longest);
  part.sequences = std::max<std::int64_t>(1, std::min(work.sequences, rows / part.longest));
  const auto fit = [&] {
    const auto length = static_cast<double>(part.longest);
    part.source_rows = part.model.has_encoder() ? length : 0;
    part.target_rows = length;
    part.labels_per_sequence = part.model.has_decoder() ? part.longest : 1;
    Workload of_all = part;
    of_all.sequences *= layout.ranks();
    return predict(of_all, layout, numbers).seconds.total() <= moment;
  };
  while (!fit() && (part.sequences > 1 || part.longest > shortest))
    part.sequences > 1 ? part.sequences /= 2 : part.longest /= 2;
  return part;
}

Options options_of(const Workload& part) {
  Options options;
  options.model = part.model;
  options.model.points = false;  // made-up symbols have no candidates
  options.batch = part.sequences;
  options.sequence_parallel = 1;
  options.bench.length = part.longest;
  options.bench.vocabulary = part.model.vocabulary;
  options.bench.encoder_only = !part.model.has_decoder();
  options.bench.decoder_only = !part.model.has_encoder();
  const core::HaltingOptions& halting = part.model.halting;
  const bool halts = (!options.bench.decoder_only && halting.encoder != core::Halting::none) ||
                     (!options.bench.encoder_only && halting.decoder != core::Halting::none);
  std::int64_t most = std::min(part.model.encoder_steps, part.model.decoder_steps);
  if (options.bench.encoder_only) most = part.model.encoder_steps;
  if (options.bench.decoder_only) most = part.model.decoder_steps;
  if (halts) options.bench.ponder = part.ponder > 0 ? part.ponder : std::max(1.0, static_cast<double>(most) / 2);
  return options;
}

}  // namespace

double probe_overhead(const MachineNumbers& numbers, const Workload& work) {
  const Layout layout{1, numbers.ranks_per_node, 1, {}};  // as many ranks measure at the same time
  Workload part = small_part(work, layout, numbers);
  const Options options = options_of(part);
  std::atomic<std::int64_t> update = -1;
  dist::Mesh mesh(dist::make_single_communicator(), 1);
  Session session{options, mesh, nullptr, update};
  BenchRun run(session);
  run.once();
  constexpr int updates = 3;
  const Stopwatch watch;
  for (int made = 0; made < updates; ++made) run.once();
  part.sequences *= layout.ranks();
  const Seconds expected = predict(part, layout, numbers).seconds;
  const double rest = expected.gradients + expected.optimizer;
  return std::max(0.5, (watch.seconds() / updates - expected.optimizer) / (expected.total() - rest));
}

}  // namespace ut::launcher
