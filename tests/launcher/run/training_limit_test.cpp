#include "launcher/run/training_limit.h"

#include <gtest/gtest.h>

namespace ut::launcher {
namespace {

TEST(TrainingLimit, ATargetScoreIsReachedByThatScore) {
  Options options;
  options.max_updates = 10;
  const auto reached = [&options](double target, double score) {
    options.target_score = target;
    return limit_reached(options, {4, 0, false, BestScore{score, 1, 4}});
  };
  EXPECT_EQ(reached(0.5, 0.5), "--target-score above 0.5000, or 0,");
  EXPECT_EQ(reached(0.5, 0.75), "--target-score above 0.7500, or 0,");
  EXPECT_EQ(reached(1, 1), "--target-score 0");
  EXPECT_EQ(reached(0.5, 0.499), "");
  EXPECT_EQ(reached(0, 1), "") << "no target";
}

}  // namespace
}  // namespace ut::launcher
