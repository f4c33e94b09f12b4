#include "base/span.h"

#include <gtest/gtest.h>

#include "tests/base/lengths_and_parts.h"

namespace ut::base {
namespace {

TEST(Share, CoversEveryNumberOnceInTheOrderOfTheParts) {
  for_lengths_and_parts([](std::int64_t length, int parts) {
    for (int rounding = 0; rounding < parts; ++rounding) {
      std::int64_t next = 0;
      for (int number = 0; number < parts; ++number) {
        const Span part = share(length, number, parts, rounding);
        EXPECT_EQ(part.begin, next);
        EXPECT_GE(part.end, part.begin);
        next = part.end;
      }
      EXPECT_EQ(next, length);
    }
  });
}

TEST(Share, DiffersByAtMostOneNumberBetweenParts) {
  for_lengths_and_parts([](std::int64_t length, int parts) {
    for (int number = 0; number < parts; ++number)
      for (int rounding = 0; rounding < parts; ++rounding) {
        const Span part = share(length, number, parts, rounding);
        EXPECT_GE(part.end - part.begin, length / parts);
        EXPECT_LE(part.end - part.begin, (length + parts - 1) / parts);
      }
  });
}

TEST(Share, SumsToTheSameForEveryPartOverAllRoundings) {
  for_lengths_and_parts([](std::int64_t length, int parts) {
    for (int number = 0; number < parts; ++number) {
      std::int64_t sum = 0;
      for (int rounding = 0; rounding < parts; ++rounding) {
        const Span part = share(length, number, parts, rounding);
        sum += part.end - part.begin;
      }
      EXPECT_EQ(sum, length) << number;
    }
  });
}

}  // namespace
}  // namespace ut::base
