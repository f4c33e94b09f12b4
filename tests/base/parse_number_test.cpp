#include "base/parse_number.h"

#include <gtest/gtest.h>

#include <cstdint>

namespace ut::base {
namespace {

TEST(ParseNumber, TakesANumberAndNothingElse) {
  EXPECT_EQ(parse_number<std::int64_t>("-12"), -12);
  EXPECT_EQ(parse_number<double>("1e-3"), 1e-3);
  for (const char* text : {"", " 1", "1 ", "+1", "1.5", "one", "9223372036854775808"})
    EXPECT_FALSE(parse_number<std::int64_t>(text)) << text;
  EXPECT_FALSE(parse_number<std::uint8_t>("256"));
  EXPECT_FALSE(parse_number<std::size_t>("-1"));
}

}  // namespace
}  // namespace ut::base
