#include "datasets/training_batches.h"

#include <algorithm>
#include <iterator>
#include <numeric>
#include <utility>

#include "base/error.h"
#include "base/shuffle.h"

namespace ut::datasets {
namespace {

constexpr std::int64_t parts_of_window = 16;
constexpr std::int64_t most_samples = 1 << 20;

/// Cuts sequences, whose numbers of rows are `rows`, into parts. Each part takes successive sequences while they have
/// at most `most` rows together, but at least one. Returns where the parts begin.
std::vector<std::size_t> filled_parts(const std::vector<std::int64_t>& rows, std::int64_t most) {
  std::vector<std::size_t> begins;
  std::int64_t of_part = 0;
  for (std::size_t sequence = 0; sequence < rows.size(); ++sequence) {
    of_part += rows[sequence];
    if (!begins.empty() && of_part <= most) continue;
    begins.push_back(sequence);
    of_part = rows[sequence];
  }
  return begins;
}

/// The same number of parts, but with the fullest one as small as can be. Otherwise the last part would be what is left
/// over: an update of a few of the longest sequences.
std::vector<std::size_t> even_parts(const std::vector<std::int64_t>& rows, std::int64_t most) {
  const std::size_t parts = filled_parts(rows, most).size();
  std::int64_t too_few = 0;
  while (most - too_few > 1) {
    const std::int64_t tried = std::midpoint(too_few, most);
    (filled_parts(rows, tried).size() > parts ? too_few : most) = tried;
  }
  return filled_parts(rows, most);
}

}  // namespace

TrainingBatches::TrainingBatches(const Task& task, const BatchOptions& options, std::uint64_t seed,
                                 const Cursor& cursor)
    : task_(task), options_(options), seed_(seed), sampler_(task.size(Split::train), seed), cursor_(cursor) {
  if (cursor.sample < 0 || cursor.part < 0 || (options.rows == 0 && cursor.part > 0))
    throw base::BadInput(
        "the recorded place in the data does not fit these batches; needs the batch options that it was recorded with");
  if (options_.rows > 0 && options_.window == 0) options_.window = samples_for_window();
  if (cursor.part == 0) return;
  cut_window();
  if (std::cmp_greater_equal(cursor.part, window_.size())) leave_window();
}

std::int64_t TrainingBatches::samples_for_window() const {
  constexpr std::int64_t looked_at = 256;
  const std::int64_t size = task_.size(Split::train);
  const std::int64_t count = std::min(size, looked_at);
  std::int64_t rows = 1;
  for (std::int64_t number = 0; number < count; ++number)
    rows += task_.example_size(Split::train, number * size / count).rows();
  return std::clamp<std::int64_t>(parts_of_window * options_.rows * count / rows, 1, most_samples);
}

Batch TrainingBatches::next() {
  Batch batch;
  for (std::int64_t part = 0; part < options_.parts; ++part) {
    const Examples examples = next_part();
    batch.parts.push_back(std::ssize(examples));
    std::ranges::copy(examples, std::back_inserter(batch.examples));
  }
  return batch;
}

TrainingBatches::Examples TrainingBatches::samples(std::int64_t count) {
  Examples examples;
  for (const std::int64_t index : sampler_.indices(cursor_.sample, count))
    examples.push_back(task_.example_size(Split::train, index));
  return examples;
}

TrainingBatches::Examples TrainingBatches::next_part() {
  if (options_.rows == 0) {
    Examples part = samples(options_.sequences);
    cursor_.sample += options_.sequences;
    return part;
  }
  if (window_.empty()) cut_window();
  Examples part = std::move(window_.at(static_cast<std::size_t>(cursor_.part++)));
  if (std::cmp_equal(cursor_.part, window_.size())) leave_window();
  return part;
}

void TrainingBatches::leave_window() {
  window_.clear();
  cursor_ = {cursor_.sample + options_.window, 0};
}

void TrainingBatches::cut_window() {
  const Examples examples = samples(options_.window);
  std::vector<std::pair<std::int64_t, std::size_t>> order;  // rows and place, so that equal ones keep their order
  for (const ExampleSize& example : examples) order.emplace_back(example.rows(), order.size());
  std::ranges::sort(order);
  std::vector<std::int64_t> rows;
  for (const auto& [of_sequence, place] : order) rows.push_back(of_sequence);
  std::vector<std::size_t> begins = even_parts(rows, options_.rows);
  begins.push_back(order.size());
  for (std::size_t part = 0; part + 1 < begins.size(); ++part) {
    window_.emplace_back();
    for (std::size_t sequence = begins[part]; sequence < begins[part + 1]; ++sequence)
      window_.back().push_back(examples[order[sequence].second]);
  }
  base::Random random(base::mix(seed_, static_cast<std::uint64_t>(cursor_.sample)));
  base::shuffle(window_, random);
}

}  // namespace ut::datasets
