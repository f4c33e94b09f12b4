#include "datasets/batch.h"

#include <algorithm>

namespace ut::datasets {
namespace {

std::int64_t sum_of(const std::vector<ExampleSize>& examples, std::int64_t ExampleSize::*what) {
  std::int64_t sum = 0;
  for (const ExampleSize& example : examples) sum += example.*what;
  return sum;
}

}  // namespace

ExampleSize size_of(const Example& example, std::int64_t number) {
  const auto answered = [](std::int64_t label) { return label != no_answer; };
  return {number, std::ssize(example.source), std::ssize(example.target),
          example.target.empty()
              ? std::int64_t{answered(example.answer)}
              : std::count_if(example.target.begin() + example.first_label, example.target.end(), answered),
          !example.candidates.empty()};
}

std::int64_t Batch::labels() const { return sum_of(examples, &ExampleSize::labels); }
std::int64_t Batch::source_rows() const { return sum_of(examples, &ExampleSize::source_rows); }
std::int64_t Batch::target_rows() const { return sum_of(examples, &ExampleSize::target_rows); }

Batch batch_of(std::span<const Example> examples) {
  Batch batch;
  for (const Example& example : examples) batch.examples.push_back(size_of(example, std::ssize(batch.examples)));
  return batch;
}

}  // namespace ut::datasets
