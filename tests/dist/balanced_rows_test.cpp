#include "dist/balanced_rows.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <random>
#include <set>
#include <vector>

namespace ut::dist {
namespace {

using ::testing::IsEmpty;

std::vector<RowNumbers> drawn_rows(std::mt19937& random, std::size_t ranks) {
  std::vector<RowNumbers> held(ranks);
  const int rows = std::uniform_int_distribution(1, 60)(random);
  std::uniform_int_distribution<std::size_t> rank(0, std::uniform_int_distribution<std::size_t>(0, ranks - 1)(random));
  for (int row = 0; row < rows; ++row) held[rank(random)].push_back(row);
  return held;
}

class BalancedRows : public testing::TestWithParam<std::size_t> {};

TEST_P(BalancedRows, AreEvenlySpreadWithTheFewestMoves) {
  std::mt19937 random(static_cast<unsigned>(GetParam()));
  for (int draw = 0; draw < 200; ++draw) {
    const std::vector<RowNumbers> held = drawn_rows(random, GetParam());
    const std::vector<RowNumbers> moved = balanced(held, 1);
    std::size_t rows = 0;
    for (const RowNumbers& numbers : held) rows += numbers.size();
    const std::size_t least = rows / held.size();
    if (moved.empty()) {
      for (const RowNumbers& numbers : held) EXPECT_LE(numbers.size(), rows % held.size() == 0 ? least : least + 1);
      continue;
    }
    std::set<std::int64_t> all;
    std::size_t fewest = 0;  // rows that must move, if ranks above the mean may keep one of the surplus rows each
    std::size_t over = rows % held.size();
    std::size_t moving = 0;
    for (std::size_t rank = 0; rank < held.size(); ++rank) {
      EXPECT_TRUE(std::ranges::is_sorted(moved[rank]));
      EXPECT_TRUE(moved[rank].size() == least || moved[rank].size() == least + 1);
      all.insert(moved[rank].begin(), moved[rank].end());
      RowNumbers stayed;
      std::ranges::set_intersection(held[rank], moved[rank], std::back_inserter(stayed));
      moving += held[rank].size() - stayed.size();
      if (held[rank].size() <= least) continue;
      fewest += held[rank].size() - least - (over > 0 ? 1 : 0);
      over -= over > 0 ? 1 : 0;
    }
    EXPECT_EQ(moving, fewest);
    EXPECT_EQ(all.size(), rows);
  }
}

INSTANTIATE_TEST_SUITE_P(Ranks, BalancedRows, testing::Values(1, 2, 3, 5, 8));

TEST(BalancedRows, NothingMovesWithinTheBound) {
  const std::vector<RowNumbers> held{{0, 1, 2, 3, 4, 5}, {6, 7}};  // 1.5 times the mean
  EXPECT_THAT(balanced(held, 1.5), IsEmpty());
  EXPECT_THAT(balanced(held, 0), IsEmpty());
  EXPECT_EQ(balanced(held, 1.4), (std::vector<RowNumbers>{{0, 1, 2, 3}, {4, 5, 6, 7}}));
  EXPECT_THAT(balanced({{0, 1, 2, 3, 4, 5}, {6, 7, 8}}, 1.4), IsEmpty()) << "a third more than a mean of 4.5";
}

}  // namespace
}  // namespace ut::dist
