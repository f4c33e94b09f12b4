#include "launcher/run/rank_batch.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace ut::launcher {
namespace {

/// Sources of these lengths, targets half as long.
std::vector<datasets::Example> examples_of(const std::vector<std::size_t>& lengths) {
  std::vector<datasets::Example> examples(lengths.size());
  for (std::size_t index = 0; index < lengths.size(); ++index) {
    examples[index].source.assign(lengths[index], {0});
    examples[index].target.assign(lengths[index] / 2, 0);
  }
  return examples;
}

TEST(ShareByRows, IsEvenWhereLikeLengthsStandTogether) {
  std::vector<std::size_t> ascending;
  for (std::size_t length = 2; length <= 80; length += 2) ascending.insert(ascending.end(), 3, length);
  for (const auto& lengths : {ascending, std::vector<std::size_t>(7, 10), {500, 2, 2, 2}, {2}, {}}) {
    const auto examples = examples_of(lengths);
    std::int64_t all = 0;
    std::int64_t longest = 0;
    const auto rows = [](const auto& example) { return std::ssize(example.source) + std::ssize(example.target); };
    for (const auto& example : examples) {
      all += rows(example);
      longest = std::max(longest, rows(example));
    }
    for (const int parts : {1, 2, 3, 8, 64}) {
      SCOPED_TRACE(fmt::format("{} examples, {} parts", lengths.size(), parts));
      std::int64_t end = 0;
      for (int part = 0; part < parts; ++part) {
        const base::Span span = share_by_rows(examples, part, parts);
        EXPECT_EQ(span.begin, end);
        std::int64_t of_part = 0;
        for (std::int64_t index = span.begin; index < span.end; ++index)
          of_part += rows(examples[static_cast<std::size_t>(index)]);
        EXPECT_LE(of_part, all / parts + 1 + longest);
        end = span.end;
      }
      EXPECT_EQ(end, std::ssize(examples));
    }
  }
}

}  // namespace
}  // namespace ut::launcher
