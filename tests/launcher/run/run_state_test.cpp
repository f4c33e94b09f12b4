#include "launcher/run/run_state.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "tests/bad_input.h"

namespace ut::launcher {
namespace {

constexpr double infinite = std::numeric_limits<double>::infinity();

std::optional<BestScore> best_in(const nlohmann::json& state) {
  return RunState::from_json(core::StateReader(state, "run")).best;
}

TEST(BestScore, IsTheHighestAndAmongEqualOnesThatOfTheLeastLoss) {
  const BestScore best{0.5, 2, 10};
  EXPECT_TRUE(improves({0, infinite, 20}, std::nullopt, false));
  EXPECT_TRUE(improves({0.6, 3, 20}, best, false));
  EXPECT_TRUE(improves({0.5, 1, 20}, best, false));
  EXPECT_FALSE(improves({0.5, 2, 20}, best, false));
  EXPECT_FALSE(improves({0.4, 1, 20}, best, false));
  EXPECT_TRUE(improves({0.5, 9, 20}, BestScore{0.5, std::nan(""), 10}, false));
  EXPECT_TRUE(improves({0.5, 9, 20}, BestScore{0.5, infinite, 10}, false));
  EXPECT_FALSE(improves({0.5, std::nan(""), 20}, best, false));
}

TEST(BestScore, IsThatOfTheLeastLossIfJudgedByLoss) {
  const BestScore best{0.5, 2, 10};
  EXPECT_TRUE(improves({0, 9, 20}, std::nullopt, true));
  EXPECT_TRUE(improves({0.4, 1, 20}, best, true));
  EXPECT_FALSE(improves({0.6, 2, 20}, best, true));
  EXPECT_FALSE(improves({0.6, std::nan(""), 20}, best, true));
  EXPECT_TRUE(improves({0.4, 9, 20}, BestScore{0.5, infinite, 10}, true));
}

TEST(RunState, IsReadAsItWasWritten) {
  for (const double loss : {1.25, infinite}) {
    const nlohmann::json written = RunState{{3, 2}, 1.5, 4, 8, 6, BestScore{0.75, loss, 7}}.to_json();
    const RunState read = RunState::from_json(core::StateReader(written, "run"));
    EXPECT_EQ(read.to_json(), written);
    ASSERT_TRUE(read.best);
    EXPECT_EQ(read.best->loss, loss);
    EXPECT_EQ(read.evaluated_at, 8);
  }
}

TEST(BestScore, IsReadFromStatesWithoutALoss) {
  EXPECT_FALSE(best_in({{"update", 9}}));
  EXPECT_FALSE(best_in({{"best_score", 0.5}, {"best_update", -1}}));
  const auto without_loss = best_in({{"best_score", 0.5}, {"best_update", 0}});
  ASSERT_TRUE(without_loss);
  EXPECT_EQ(without_loss->loss, infinite);
  EXPECT_NE(tests::bad_input([] { best_in({{"best_score", "high"}, {"best_update", 3}}); }), "");
}

}  // namespace
}  // namespace ut::launcher
