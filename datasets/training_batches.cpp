#include "datasets/training_batches.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "base/error.h"
#include "base/shuffle.h"

namespace ut::datasets {
namespace {

std::int64_t rows_of(const Example& example) {
  return static_cast<std::int64_t>(example.source.size() + example.target.size());
}

}  // namespace

TrainingBatches::TrainingBatches(const Task& task, const BatchOptions& options, std::uint64_t seed,
                                 const Cursor& cursor)
    : task_(task), options_(options), seed_(seed), sampler_(task.size(Split::train), seed), cursor_(cursor) {
  if (cursor.sample < 0 || cursor.part < 0 || (options.rows == 0 && cursor.part > 0))
    throw base::BadInput(
        "the place in the data that was recorded is none of these batches'; needs the batch options "
        "that it was recorded with");
}

Batch TrainingBatches::next() {
  Batch batch;
  for (std::int64_t part = 0; part < options_.parts; ++part) {
    Examples examples = next_part();
    batch.parts.push_back(std::ssize(examples));
    std::ranges::move(examples, std::back_inserter(batch.examples));
  }
  return batch;
}

std::vector<Example> TrainingBatches::samples(std::int64_t count) {
  std::vector<Example> examples;
  for (const std::int64_t index : sampler_.indices(cursor_.sample, count))
    examples.push_back(task_.example(Split::train, index));
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
  if (std::cmp_less(cursor_.part, window_.size())) return part;
  window_.clear();
  cursor_ = {cursor_.sample + options_.window, 0};
  return part;
}

void TrainingBatches::cut_window() {
  Examples examples = samples(options_.window);
  std::vector<std::pair<std::int64_t, std::size_t>> order;  // rows and place, so that equal ones keep their order
  for (const Example& example : examples) order.emplace_back(rows_of(example), order.size());
  std::ranges::sort(order);
  std::int64_t rows = 0;
  for (const auto& [more, place] : order) {
    rows += more;
    if (window_.empty() || rows > options_.rows) {
      window_.emplace_back();
      rows = more;
    }
    window_.back().push_back(std::move(examples[place]));
  }
  base::Random random(base::mix(seed_, static_cast<std::uint64_t>(cursor_.sample)));
  base::shuffle(window_, random);
  if (std::cmp_greater_equal(cursor_.part, window_.size()))
    throw base::BadInput(
        "the place in the data that was recorded lies beyond its window; needs the data and the batch "
        "options that it was recorded with");
}

}  // namespace ut::datasets
