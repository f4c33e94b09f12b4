#include "datasets/batch.h"

#include <algorithm>

namespace ut::datasets {

std::int64_t Batch::labels() const {
  std::int64_t sum = 0;
  for (const Example& example : examples)
    sum += example.target.empty() ? (example.answer == no_answer ? 0 : 1)
                                  : std::count_if(example.target.begin() + example.first_label, example.target.end(),
                                                  [](std::int64_t label) { return label != no_answer; });
  return sum;
}

std::int64_t Batch::source_rows() const {
  std::int64_t sum = 0;
  for (const Example& example : examples) sum += static_cast<std::int64_t>(example.source.size());
  return sum;
}

std::int64_t Batch::target_rows() const {
  std::int64_t sum = 0;
  for (const Example& example : examples) sum += static_cast<std::int64_t>(example.target.size());
  return sum;
}

}  // namespace ut::datasets
