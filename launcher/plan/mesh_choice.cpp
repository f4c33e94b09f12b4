#include "launcher/plan/mesh_choice.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/error.h"
#include "launcher/options/model_options.h"
#include "launcher/process/readable.h"

namespace ut::launcher {
namespace {

/// Whether it matters which positions a rank holds. With heads, every rank works on all positions.
bool cut_matters(const Workload& work, const dist::ExchangeOptions& exchange) {
  return work.model.has_decoder() && exchange.form != dist::ExchangeForm::heads;
}

/// Whether the exchange is a choice of its own. Without ranks that share a sequence there is only one; heads always
/// sends queries, keys and values.
bool is_distinct(const Workload& work, const Layout& layout) {
  if (layout.sequence_parallel == 1)
    return layout.exchange.form == dist::ExchangeForm::all_gather && layout.exchange.sent == dist::Sent::keys_values &&
           layout.exchange.cut == dist::Cut::contiguous;
  if (layout.exchange.form == dist::ExchangeForm::heads && layout.exchange.sent == dist::Sent::states) return false;
  return layout.exchange.cut == dist::Cut::contiguous || cut_matters(work, layout.exchange);
}

std::vector<Layout> layouts(const Workload& work, std::int64_t nodes, std::int64_t ranks_per_node) {
  std::vector<Layout> found;
  // A sequence has no more shares than positions.
  for (std::int64_t shared = 1; shared <= std::min(nodes * ranks_per_node, work.longest); ++shared)
    for (const auto& [name, form] : exchange_forms())
      for (const auto& [sent_name, sent] : exchange_sends())
        for (const auto& [cut_name, cut] : exchange_cuts()) {
          const Layout layout{nodes, ranks_per_node, shared, {form, sent, cut}};
          if (is_possible(work, layout) && is_distinct(work, layout)) found.push_back(layout);
        }
  return found;
}

bool satisfies(const Workload& work, const Layout& layout, const FixedChoices& fixed) {
  const bool alone = layout.sequence_parallel == 1;  // nothing is exchanged
  return fixed.sequence_parallel.value_or(layout.sequence_parallel) == layout.sequence_parallel &&
         (alone ||
          (fixed.form.value_or(layout.exchange.form) == layout.exchange.form &&
           fixed.sent.value_or(layout.exchange.sent) == layout.exchange.sent &&
           (!cut_matters(work, layout.exchange) || fixed.cut.value_or(layout.exchange.cut) == layout.exchange.cut)));
}

double percent_more(double more, double than) { return 100 * (more / than - 1); }

/// The part of an update in which `slower` loses most to `best`.
std::string where_it_loses(const Seconds& best, const Seconds& slower) {
  const std::pair<const char*, double> parts[] = {
      {"matrix products", slower.products - best.products},
      {"attention", slower.attention - best.attention},
      {"element-wise work", slower.element_wise - best.element_wise},
      {"operations' fixed costs", slower.operations - best.operations},
      {"waiting for other ranks' positions", slower.exchange - best.exchange},
      {"the gradients' all-reduce", slower.gradients - best.gradients}};
  return std::ranges::max_element(parts, {}, [](const auto& part) { return part.second; })->first;
}

std::string against(const Candidate& best, const Candidate& other, const std::string& name) {
  if (other.fits != best.fits)
    return fmt::format("{} needs {} on a rank, more than a rank has", name, readable(other.prediction.peak_bytes, "B"));
  const double more = percent_more(other.prediction.seconds.total(), best.prediction.seconds.total());
  return fmt::format("{} takes {:.0f} % longer, most of it in {}", name, more,
                     where_it_loses(best.prediction.seconds, other.prediction.seconds));
}

}  // namespace

Workload bench_workload(const Options& options) {
  const BenchOptions& bench = options.bench;
  Workload work;
  work.model = bench_model(options);
  work.sequences = options.batch;
  const double shortest = static_cast<double>(bench.min_length == 0 ? bench.length : bench.min_length);
  const double rows = (shortest + static_cast<double>(bench.length)) / 2;
  work.source_rows = bench.decoder_only ? 0 : rows;
  work.target_rows = bench.encoder_only ? 0 : rows;
  work.longest = bench.length;
  const double lengths = static_cast<double>(bench.length) - shortest + 1;  // all equally frequent
  work.length_spread = 1 + (lengths * lengths - 1) / 12 / (rows * rows);
  work.ponder = bench.ponder;
  work.labels_per_sequence = bench.encoder_only ? 1 : std::llround(rows);
  return work;
}

Workload task_workload(const Options& options, const core::ModelOptions& model, const datasets::Task& task) {
  constexpr std::int64_t looked_at = 256;
  const std::int64_t size = task.size(datasets::Split::train);
  const std::int64_t stride = std::max<std::int64_t>(1, size / looked_at);
  datasets::Batch seen;
  for (std::int64_t index = 0; index < size; index += stride)
    seen.examples.push_back(task.example_size(datasets::Split::train, index));
  const auto sequences = static_cast<double>(seen.examples.size());
  Workload work;
  work.model = model;
  work.micro_batches = options.accumulate;
  work.source_rows = static_cast<double>(seen.source_rows()) / sequences;
  work.target_rows = static_cast<double>(seen.target_rows()) / sequences;
  const double fitting = static_cast<double>(options.batch_rows) / (work.source_rows + work.target_rows);
  work.sequences = options.batch_rows == 0 ? options.batch : std::max<std::int64_t>(1, std::lround(fitting));
  if (options.batch_rows > 0 && options.batch_window > 0)
    work.sequences = std::min(work.sequences, options.batch_window);
  work.longest = 1;
  double squares = 0;
  for (const datasets::ExampleSize& example : seen.examples) {
    work.longest = std::max({work.longest, example.source_rows, example.target_rows});
    squares += std::pow(example.source_rows, 2) + std::pow(example.target_rows, 2);
  }
  work.length_spread = squares / sequences / (std::pow(work.source_rows, 2) + std::pow(work.target_rows, 2));
  work.labels_per_sequence = seen.labels() / static_cast<std::int64_t>(seen.examples.size());
  return work;
}

std::vector<Candidate> candidates(const Workload& work, std::int64_t nodes, std::int64_t ranks_per_node,
                                  const MachineNumbers& machine) {
  const auto cost = [](const Candidate& one) {
    return std::pair(!one.fits, one.fits ? one.prediction.seconds.total() : one.prediction.peak_bytes);
  };
  // Ranks on CPUs share their host's memory; a GPU is a rank's own.
  const double sharing = machine.cores_per_node == 0
                             ? 1
                             : static_cast<double>(ranks_per_node) / static_cast<double>(machine.ranks_per_node);
  const double memory_of_rank = machine.memory_bytes / sharing;
  std::vector<Candidate> all;
  for (const Layout& layout : layouts(work, nodes, ranks_per_node)) {
    const Prediction prediction = predict(work, layout, machine);
    const Candidate found{layout, prediction, prediction.peak_bytes <= memory_of_rank};
    // Equals keep the order in which they are found.
    all.insert(std::ranges::upper_bound(all, cost(found), {}, cost), found);
  }
  return all;
}

std::vector<Candidate> best_of_each_mesh(const std::vector<Candidate>& all) {
  std::vector<Candidate> best;
  for (const Candidate& one : all)
    if (std::ranges::none_of(best, [&](const Candidate& other) {
          return other.layout.sequence_parallel == one.layout.sequence_parallel;
        }))
      best.push_back(one);
  return best;
}

std::vector<std::string> reasons(const Workload& work, const std::vector<Candidate>& all) {
  std::vector<std::string> lines;
  const Candidate& best = all.front();
  const std::int64_t shared = best.layout.sequence_parallel;
  const std::int64_t data_parallel = best.layout.ranks() / shared;
  if (!best.fits)
    lines.push_back(
        fmt::format("nothing fits: the least that a rank needs is {}; more ranks, a smaller batch or more "
                    "micro-batches (--accumulate) help",
                    readable(best.prediction.peak_bytes, "B")));
  if (data_parallel > work.sequences)
    lines.push_back(fmt::format("{} sequences leave {} of {} ranks without work", work.sequences,
                                (data_parallel - work.sequences) * shared, best.layout.ranks()));
  else if (work.sequences % data_parallel != 0)
    lines.push_back(fmt::format("{} sequences do not divide evenly by {}", work.sequences, data_parallel));
  for (const Candidate& other : best_of_each_mesh(all)) {
    const std::int64_t theirs = other.layout.sequence_parallel;
    if (theirs == shared / 2 || theirs == shared * 2)
      lines.push_back(against(best, other, fmt::format("sequence-parallel {}", theirs)));
  }
  for (const auto& [name, form] : exchange_forms()) {
    const auto other = std::ranges::find_if(all, [&](const Candidate& one) {
      return one.layout.sequence_parallel == shared && one.layout.exchange.form == form;
    });
    if (shared > 1 && form != best.layout.exchange.form && other != all.end())
      lines.push_back(against(best, *other, exchange_name(other->layout)));
  }
  return lines;
}

Layout choose_layout(const Workload& work, std::int64_t nodes, std::int64_t ranks_per_node,
                     const MachineNumbers& machine, const FixedChoices& fixed) {
  Workload shared = work;  // a person may ask for more shares than positions
  shared.longest = std::max(work.longest, fixed.sequence_parallel.value_or(1));
  for (const Candidate& one : candidates(shared, nodes, ranks_per_node, machine))
    if (satisfies(work, one.layout, fixed)) return one.layout;
  throw base::BadInput("--sequence-parallel {}: not possible with this exchange, model and {} ranks",
                       fixed.sequence_parallel.value_or(1), nodes * ranks_per_node);
}

std::string exchange_name(const Layout& layout) {
  if (layout.sequence_parallel == 1) return "none";
  std::string name = name_of(layout.exchange.form);
  if (layout.exchange.form != dist::ExchangeForm::heads) name += " of " + name_of(layout.exchange.sent);
  return layout.exchange.cut == dist::Cut::zigzag ? name + ", zigzag" : name;
}

}  // namespace ut::launcher
