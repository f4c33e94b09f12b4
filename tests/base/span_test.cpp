#include "base/span.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace ut::base {
namespace {

/// check(length, parts)
template <class Check>
void for_lengths_and_parts(const Check& check) {
  for (std::int64_t length = 0; length <= 64; ++length)
    for (int parts = 1; parts <= 9; ++parts) {
      SCOPED_TRACE(fmt::format("length {}, {} parts", length, parts));
      check(length, parts);
    }
}

TEST(Share, CoversEveryNumberOnceInTheOrderOfTheParts) {
  for_lengths_and_parts([](std::int64_t length, int parts) {
    std::int64_t next = 0;
    for (int number = 0; number < parts; ++number) {
      const Span part = share(length, number, parts);
      EXPECT_EQ(part.begin, next);
      EXPECT_GE(part.end, part.begin);
      next = part.end;
    }
    EXPECT_EQ(next, length);
  });
}

TEST(Share, DiffersByAtMostOneNumberBetweenParts) {
  for_lengths_and_parts([](std::int64_t length, int parts) {
    for (int number = 0; number < parts; ++number) {
      const Span part = share(length, number, parts);
      EXPECT_GE(part.end - part.begin, length / parts);
      EXPECT_LE(part.end - part.begin, (length + parts - 1) / parts);
    }
  });
}

}  // namespace
}  // namespace ut::base
