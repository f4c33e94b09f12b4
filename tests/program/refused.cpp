#include "tests/program/refused.h"

#include <algorithm>

namespace ut::tests {

void expect_refused(const Outcome& outcome, const testing::Matcher<const std::string&>& why) {
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_THAT(outcome.errors, why);
  EXPECT_EQ(std::ranges::count(outcome.errors, '\n'), 1) << outcome.errors;
}

}  // namespace ut::tests
