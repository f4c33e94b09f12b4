#include "datasets/generated_task.h"

#include <fmt/format.h>

#include <cstdint>
#include <stdexcept>
#include <utility>

#include "datasets/task_options.h"

namespace ut::datasets {

GeneratedTask::GeneratedTask(std::string name, Vocabulary vocabulary, const TaskOptions& options)
    : name_(std::move(name)), vocabulary_(std::move(vocabulary)), options_(options) {}

std::int64_t GeneratedTask::size(Split split) const {
  return split == Split::train ? options_.train_examples : options_.evaluation_examples;
}

base::Random GeneratedTask::random_of(Split split, std::int64_t index) const {
  if (index < 0 || index >= size(split))
    throw std::out_of_range(fmt::format("{}: no example {}; the split has {}", name_, index, size(split)));
  return base::Random(
      base::mix(base::mix(options_.seed, static_cast<std::uint64_t>(split)), static_cast<std::uint64_t>(index)));
}

Example GeneratedTask::example(Split split, std::int64_t index) const {
  base::Random random = random_of(split, index);
  return draw(split, random);
}

ExampleSize GeneratedTask::example_size(Split split, std::int64_t index) const {
  base::Random random = random_of(split, index);
  const std::optional<Lengths> lengths = draw_lengths(split, random);
  if (!lengths) return size_of(example(split, index), index);
  return {index, lengths->source, lengths->target, lengths->target, false};
}

}  // namespace ut::datasets
