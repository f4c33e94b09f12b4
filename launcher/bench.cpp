#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <optional>
#include <vector>

#include "base/counted.h"
#include "base/file.h"
#include "core/products.h"
#include "launcher/bench/bench_products.h"
#include "launcher/bench/bench_report.h"
#include "launcher/bench/bench_run.h"
#include "launcher/bench/tensor_memory.h"
#include "launcher/bench/trace.h"
#include "launcher/commands.h"
#include "launcher/cost/cost_model.h"
#include "launcher/process/memory_use.h"
#include "launcher/process/say.h"
#include "launcher/process/stopwatch.h"
#include "launcher/ranks/agree.h"
#include "launcher/ranks/device.h"
#include "launcher/ranks/shared_values.h"

namespace ut::launcher {
namespace {

/// What one rank measured.
struct RankResult {
  std::vector<double> step_seconds;
  double product_seconds = 0;
  double flops = 0;             // of the last update's matrix products
  std::int64_t held_bytes = 0;  // between updates
  std::int64_t peak_bytes = 0;
  std::int64_t page_faults = 0;          // sum over the measured updates
  dist::SentBytes sent_bytes{};          // sum over the measured updates
  dist::WaitedSeconds waited_seconds{};  // sum over the measured updates
  PonderHistograms ponder_times;
};

/// Runs two updates that are not timed. The first allocates what stays allocated; memory is counted in the second.
void warm_up(BenchRun& run, TensorMemory& memory, RankResult& result) {
  run.once();
  result.held_bytes = memory.current();
  memory.reset_peak();
  run.once();
  wait_for(run.model().parameters().flat());
  result.peak_bytes = memory.peak();
}

UpdateMade measure_update(BenchRun& run, const Session& session, RankResult& result) {
  wait_for_all(session.mesh.world());
  const dist::SentBytes before = session.mesh.sent_bytes();
  const dist::WaitedSeconds waited_before = session.mesh.waited_seconds();
  const std::int64_t faults_before = page_faults();
  const Stopwatch stopwatch;
  UpdateMade made = run.once();
  wait_for(run.model().parameters().flat());
  result.step_seconds.push_back(stopwatch.seconds());
  result.page_faults += page_faults() - faults_before;
  const dist::SentBytes after = session.mesh.sent_bytes();
  const dist::WaitedSeconds waited_after = session.mesh.waited_seconds();
  for (std::size_t purpose = 0; purpose < dist::purposes; ++purpose) {
    result.sent_bytes.at(purpose) += after.at(purpose) - before.at(purpose);
    result.waited_seconds.at(purpose) += waited_after.at(purpose) - waited_before.at(purpose);
  }
  result.ponder_times.add({{}, {made.encoder_updates, {}}, {made.decoder_updates, {}}}, session.options.model.halting);
  return made;
}

/// Combines what all ranks measured. Collective.
BenchResult over_all_ranks(const RankResult& mine, const BenchRun& run, dist::Communicator& world) {
  const auto all = [&world](auto value) {
    return numbers_of_ranks(at::full({1}, static_cast<double>(value), at::kDouble), world);
  };
  BenchResult result;
  result.rows = run.symbols();
  const at::Tensor step_seconds =
      numbers_of_ranks(at::tensor(mine.step_seconds, at::kDouble), world).amax(0);  // [iterations]
  const auto quantile = [&step_seconds](double share) { return step_seconds.quantile(share).item<double>(); };
  result.step_seconds = quantile(0.5);
  result.lower_quartile = quantile(0.25);
  result.upper_quartile = quantile(0.75);
  result.product_seconds = all(mine.product_seconds).mean().item<double>();
  result.flops = all(mine.flops).sum().item<double>();
  result.parameters = run.model().parameters().elements();
  result.table_parameters = table_parameters(run.model().options());
  result.peak_bytes = all(mine.peak_bytes).max().item<std::int64_t>();
  result.activation_bytes = all(mine.peak_bytes - mine.held_bytes).max().item<std::int64_t>();
  const auto updates = static_cast<std::int64_t>(mine.step_seconds.size());
  result.page_faults = all(mine.page_faults).max().item<std::int64_t>() / updates;
  for (std::size_t purpose = 0; purpose < dist::purposes; ++purpose) {
    result.sent_bytes.at(purpose) = all(mine.sent_bytes.at(purpose)).sum().item<std::int64_t>() / updates;
    result.waited_seconds.at(purpose) =
        all(mine.waited_seconds.at(purpose)).mean().item<double>() / static_cast<double>(updates);
  }
  result.ponder_times = mine.ponder_times;
  result.ponder_times.sum_over(world, run.model().steps());
  return result;
}

/// Runs one more update with a trace and writes the events of all ranks to the --profile file. Collective.
void profile(BenchRun& run, const Session& session) {
  std::string mine;
  {
    const Trace trace;
    run.once();
    mine = trace.events(session.mesh.world().rank());
  }
  std::string all;
  for (const std::string& of_rank : texts_at_first(mine, session.mesh.world()))
    all += (all.empty() ? "" : ",\n") + of_rank;
  if (session.speaks()) base::write_file_whole(session.options.bench.profile, "{\"traceEvents\": [\n" + all + "\n]}\n");
}

void say_what_runs(const BenchRun& run, const Session& session) {
  const auto& batch = run.batch();
  print(fmt::format(
      "{} parameters ({} of them in the table of symbols); {}, {} source and {} target symbols; data-parallel "
      "{}, sequence-parallel {}\n",
      run.model().parameters().elements(), table_parameters(run.model().options()),
      base::counted(std::ssize(batch.examples), "sequence"), batch.source_rows(), batch.target_rows(),
      session.mesh.data_parallel(), session.mesh.sequence_parallel()));
}

}  // namespace

int bench(Session& session) {
  const Options& options = session.options;
  RankResult mine;
  std::optional<TensorMemory> memory(std::in_place);  // made before any tensor, to count them all
  BenchRun run(session);
  if (session.speaks() && !options.json && !options.quiet) say_what_runs(run, session);
  warm_up(run, *memory, mine);
  // Counting would slow the timed updates down.
  memory.reset();
  UpdateMade made;
  for (std::int64_t iteration = 0; iteration < options.bench.iterations; ++iteration)
    made = measure_update(run, session, mine);
  const core::ModelOptions& model = run.model().options();
  if (!options.bench.decode) {
    const std::vector<Product> products = products_of_update(model, made, session.mesh);
    mine.flops = flops_of_update(products);
    mine.product_seconds =
        time_of_products(products, run.model().parameters().flat().options().dtype(core::product_type(model)));
  }

  const BenchResult result = over_all_ranks(mine, run, session.mesh.world());
  if (session.speaks()) {
    Options used = options;
    used.ranks = session.mesh.world().size();
    used.threads = at::get_num_threads();
    print(options.json ? to_json(result, used).dump() + "\n" : describe(result, used));
  }
  if (!options.bench.profile.empty()) profile(run, session);
  return 0;
}

}  // namespace ut::launcher
