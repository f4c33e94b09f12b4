#include "launcher/run/examples_digest.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdint>
#include <vector>

#include "base/digest.h"

namespace ut::launcher {

std::string examples_digest(const datasets::Task& task, datasets::Split split) {
  std::string text;
  const auto add = [&](const std::vector<std::int64_t>& numbers) {
    text += fmt::format("{}\n", fmt::join(numbers, " "));
  };
  const std::int64_t size = task.size(split);
  add({size});
  const std::int64_t distance = std::max<std::int64_t>(1, size / 64);
  for (std::int64_t index = size - 1; index >= 0; index -= distance) {
    const datasets::Example example = task.example(split, index);
    for (const auto& words : example.source) add(words);
    add(example.target);
    add({example.answer});
    if (example.first_label > 0) add({example.first_label});
  }
  return base::digest(text.data(), text.size());
}

}  // namespace ut::launcher
