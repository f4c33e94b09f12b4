#include "base/span.h"

#include <gtest/gtest.h>

#include "tests/base/lengths_and_parts.h"

namespace ut::base {
namespace {

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
