#include "launcher/run/rank_batch.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <iterator>
#include <vector>

#include "base/philox.h"
#include "base/span.h"
#include "dist/on_device.h"

namespace ut::launcher {
namespace {

using Examples = std::span<const datasets::Example>;

/// [rows] int64: positions of the rows, each moved by its sequence's random offset.
at::Tensor positions(const dist::Rows& rows, const RandomOffset& offset) {
  if (offset.largest == 0) return rows.position;
  at::Tensor moved = rows.position.clone();
  auto* position = moved.mutable_data_ptr<std::int64_t>();
  const auto* sequence = rows.sequence.const_data_ptr<std::int64_t>();
  const std::uint64_t key = base::mix(offset.seed, static_cast<std::uint64_t>(offset.update));
  for (std::int64_t row = 0; row < rows.count(); ++row)
    position[row] += base::Random(base::mix(key, static_cast<std::uint64_t>(sequence[row]))).uniform(0, offset.largest);
  return moved;
}

/// Calls use(example, position) for each local row.
template <class Use>
void for_each_row(const dist::Rows& rows, Examples examples, const Use& use) {
  const auto* position = rows.position.const_data_ptr<std::int64_t>();
  for (std::size_t index = 0; index < examples.size(); ++index)
    for (std::int64_t row = rows.offsets[index]; row < rows.offsets[index + 1]; ++row)
      use(examples[index], position[row]);
}

/// [rows, words a row] int64; -1 where a row has fewer words than the longest.
at::Tensor source_words(const dist::Rows& rows, Examples examples) {
  std::size_t longest = 1;
  for (const auto& example : examples)
    for (const auto& words : example.source) longest = std::max(longest, words.size());
  std::vector<std::int64_t> table;
  for_each_row(rows, examples, [&](const datasets::Example& example, std::int64_t position) {
    const auto& words = example.source[static_cast<std::size_t>(position)];
    table.insert(table.end(), words.begin(), words.end());
    table.insert(table.end(), longest - words.size(), -1);
  });
  return at::tensor(table, at::kLong).view({rows.count(), static_cast<std::int64_t>(longest)});
}

void add_source(core::Batch& batch, Examples examples, const dist::Sequences& sequences, const dist::Mesh& mesh,
                const dist::ExchangeOptions& exchange, const RandomOffset& offset) {
  batch.source = dist::make_exchange(sequences, mesh.sequence(), {exchange.form, exchange.sent, dist::Cut::contiguous});
  batch.source_words = source_words(batch.source->local(), examples);
  batch.source_position = positions(batch.source->local(), offset);
}

void add_target(core::Batch& batch, Examples examples, const dist::Sequences& sequences, const dist::Mesh& mesh,
                const dist::ExchangeOptions& exchange, const RandomOffset& offset) {
  batch.target = dist::make_exchange(sequences, mesh.sequence(), exchange);
  std::vector<std::int64_t> previous;
  std::vector<std::int64_t> read;
  std::vector<std::int64_t> labels;
  for_each_row(batch.target->local(), examples, [&](const datasets::Example& example, std::int64_t position) {
    if (position >= example.first_label) {
      read.push_back(std::ssize(previous));
      labels.push_back(example.target[static_cast<std::size_t>(position)]);
    }
    previous.push_back(position == 0 ? -1 : example.target[static_cast<std::size_t>(position - 1)]);
  });
  if (read.size() < previous.size()) batch.read_rows = at::tensor(read, at::kLong);
  batch.target_previous = at::tensor(previous, at::kLong);
  batch.target_position = positions(batch.target->local(), offset);
  batch.labels = at::tensor(labels, at::kLong);
}

/// Adds the answers. An answer is read at a sequence's first row, by the rank that holds it.
void add_answers(core::Batch& batch, Examples examples) {
  std::vector<std::int64_t> read;
  std::vector<std::int64_t> labels;
  std::int64_t row = 0;
  for_each_row(batch.source->local(), examples, [&](const datasets::Example& example, std::int64_t position) {
    if (position == 0) {
      read.push_back(row);
      labels.push_back(example.answer);
    }
    ++row;
  });
  batch.read_rows = at::tensor(read, at::kLong);
  batch.labels = at::tensor(labels, at::kLong);
}

/// Adds the candidates of the answers that add_answers() reads on this rank, on whichever rank they are.
void add_candidates(core::Batch& batch, Examples examples) {
  const dist::Rows& all = batch.source->all();
  const dist::Rows& local = batch.source->local();
  std::vector<std::size_t> read;  // indices of the examples whose answers are read here
  for (std::size_t index = 0; index < examples.size(); ++index)
    if (local.offsets[index + 1] > local.offsets[index] &&
        local.position.const_data_ptr<std::int64_t>()[local.offsets[index]] == 0)
      read.push_back(index);
  for (const std::size_t index : read)
    batch.candidates.per_label = std::max(batch.candidates.per_label, 1 + std::ranges::max(examples[index].candidates));
  std::vector<std::int64_t> rows;
  std::vector<std::int64_t> candidates;
  for (std::size_t label = 0; label < read.size(); ++label) {
    std::int64_t row = all.offsets[read[label]];
    for (const std::int64_t candidate : examples[read[label]].candidates) {
      if (candidate != datasets::no_answer) {
        rows.push_back(row);
        candidates.push_back(static_cast<std::int64_t>(label) * batch.candidates.per_label + candidate);
      }
      ++row;
    }
  }
  batch.candidates.row_of_place = at::tensor(rows, at::kLong);
  batch.candidates.candidate_of_place = at::tensor(candidates, at::kLong);
}

/// Where part number `part` of `parts` begins: the example nearest to its share of all rows.
std::int64_t begin_of_part(const std::vector<std::int64_t>& rows_before, int part, int parts) {
  if (part == parts) return std::ssize(rows_before) - 1;
  const std::int64_t wanted = rows_before.back() * part / parts;
  auto nearest = std::ranges::lower_bound(rows_before, wanted);
  if (nearest != rows_before.begin() && wanted - *std::prev(nearest) < *nearest - wanted) --nearest;
  return nearest - rows_before.begin();
}

void move_to(at::Device device, core::Batch& batch) {
  for (at::Tensor* part :
       {&batch.source_words, &batch.source_position, &batch.target_previous, &batch.target_position, &batch.read_rows,
        &batch.labels, &batch.candidates.row_of_place, &batch.candidates.candidate_of_place})
    if (part->defined()) *part = dist::on_device(*part, device);
}

}  // namespace

base::Span share_by_rows(std::span<const datasets::ExampleSize> examples, int part, int parts) {
  std::vector<std::int64_t> rows_before = {0};  // before each example, and at last all
  for (const auto& example : examples) rows_before.push_back(rows_before.back() + example.rows());
  return {begin_of_part(rows_before, part, parts), begin_of_part(rows_before, part + 1, parts)};
}

std::vector<std::int64_t> RankBatch::sequences_of_labels() const {
  std::vector<std::int64_t> of_row = dist::sequence_numbers(read_from());
  if (!rows.read_rows.defined()) return of_row;
  const at::Tensor read = rows.read_rows.cpu();
  std::vector<std::int64_t> of_label;
  for (std::int64_t label = 0; label < read.size(0); ++label)
    of_label.push_back(of_row[static_cast<std::size_t>(read.const_data_ptr<std::int64_t>()[label])]);
  return of_label;
}

std::int64_t pointed_row(const datasets::Example& example, std::int64_t candidate) {
  return std::ranges::find(example.candidates, candidate) - example.candidates.begin();
}

RankBatch rank_batch(std::span<const datasets::ExampleSize> all, const MakeExample& make, std::int64_t first_id,
                     const dist::Mesh& mesh, const dist::ExchangeOptions& exchange, const RandomOffset& offset) {
  const base::Span mine = share_by_rows(all, mesh.data_rank(), mesh.data_parallel());
  RankBatch batch;
  batch.first_example = static_cast<std::size_t>(mine.begin);
  dist::Sequences targets;
  for (std::int64_t place = mine.begin; place < mine.end; ++place) {
    const datasets::ExampleSize& size = all[static_cast<std::size_t>(place)];
    batch.examples.push_back(make(size.number));
    batch.numbers.push_back(size.number);
    batch.sources.ids.push_back(first_id + place);
    batch.sources.lengths.push_back(size.source_rows);
    targets.lengths.push_back(size.target_rows);
  }
  targets.ids = batch.sources.ids;
  // Decided by all examples: ranks that hold none of them take part in exchanges, too.
  const bool has_targets = std::ranges::any_of(all, [](const auto& example) { return example.target_rows > 0; });
  const bool has_sources = std::ranges::any_of(all, [](const auto& example) { return example.source_rows > 0; });
  const bool points = std::ranges::any_of(all, [](const auto& example) { return example.points; });
  if (has_sources) add_source(batch.rows, batch.examples, batch.sources, mesh, exchange, offset);
  if (has_targets)
    add_target(batch.rows, batch.examples, targets, mesh, exchange, offset);
  else
    add_answers(batch.rows, batch.examples);
  if (points) add_candidates(batch.rows, batch.examples);
  move_to(mesh.device(), batch.rows);
  return batch;
}

RankBatch rank_batch(Examples examples, std::int64_t first_id, const dist::Mesh& mesh,
                     const dist::ExchangeOptions& exchange) {
  const auto make = [examples](std::int64_t number) { return examples[static_cast<std::size_t>(number)]; };
  return rank_batch(datasets::batch_of(examples).examples, make, first_id, mesh, exchange);
}

}  // namespace ut::launcher
