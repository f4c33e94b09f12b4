#include "launcher/run/rank_batch.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace ut::launcher {
namespace {

std::vector<datasets::ExampleSize> sizes_of(const std::vector<std::int64_t>& rows) {
  std::vector<datasets::ExampleSize> sizes;
  for (const std::int64_t of_one : rows) sizes.push_back({std::ssize(sizes), of_one - of_one / 3, of_one / 3});
  return sizes;
}

TEST(ShareByRows, IsEvenIfSimilarLengthsStandTogether) {
  std::vector<std::int64_t> ascending;
  for (std::int64_t length = 3; length <= 120; length += 3) ascending.insert(ascending.end(), 3, length);
  for (const auto& lengths : {ascending, std::vector<std::int64_t>(7, 15), {750, 3, 3, 3}, {3}, {}}) {
    const auto examples = sizes_of(lengths);
    std::int64_t all = 0;
    std::int64_t longest = 0;
    for (const auto& example : examples) {
      all += example.rows();
      longest = std::max(longest, example.rows());
    }
    for (const int parts : {1, 2, 3, 8, 64}) {
      SCOPED_TRACE(fmt::format("{} examples, {} parts", lengths.size(), parts));
      std::int64_t end = 0;
      for (int part = 0; part < parts; ++part) {
        const base::Span span = share_by_rows(examples, part, parts);
        EXPECT_EQ(span.begin, end);
        std::int64_t of_part = 0;
        for (std::int64_t index = span.begin; index < span.end; ++index)
          of_part += examples[static_cast<std::size_t>(index)].rows();
        EXPECT_LE(of_part, all / parts + 1 + longest);
        end = span.end;
      }
      EXPECT_EQ(end, std::ssize(examples));
    }
  }
}

}  // namespace
}  // namespace ut::launcher
