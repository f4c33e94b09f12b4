#include "launcher/ranks/rank_checks.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace ut::launcher {
namespace {

TEST(OddRank, IsTheFirstThatDiffersFromMost) {
  EXPECT_FALSE(find_odd_rank({"a"}));
  EXPECT_FALSE(find_odd_rank({"a", "a", "a"}));
  const auto expect = [](const std::vector<std::string>& texts, int rank, const std::string& usual) {
    const auto odd = find_odd_rank(texts);
    ASSERT_TRUE(odd);
    EXPECT_EQ(odd->rank, rank);
    EXPECT_EQ(odd->usual, usual);
  };
  expect({"a", "b"}, 1, "a");
  expect({"b", "a", "a"}, 0, "a");
  expect({"b", "b", "a", "a", "a"}, 0, "a");
  expect({"a", "b", "a", "b"}, 1, "a");
}

}  // namespace
}  // namespace ut::launcher
