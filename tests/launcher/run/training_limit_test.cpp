#include "launcher/run/training_limit.h"

#include <gtest/gtest.h>

namespace ut::launcher {
namespace {

TEST(TrainingLimit, IsReachedAtTheTargetScore) {
  Options options;
  options.max_updates = 10;
  const auto reached = [&options](double target, double score) {
    options.target_score = target;
    return limit_reached(options, 4, {.best = BestScore{score, 1, 4}}, false);
  };
  EXPECT_EQ(reached(0.5, 0.5), "--target-score above 0.5000, or 0");
  EXPECT_EQ(reached(0.5, 0.75), "--target-score above 0.7500, or 0");
  EXPECT_EQ(reached(1, 1), "--target-score 0");
  EXPECT_EQ(reached(0.5, 0.499), "");
  EXPECT_EQ(reached(0, 1), "") << "no target";
}

TEST(TrainingLimit, IsReachedWhenPatienceRunsOut) {
  Options options;
  options.max_updates = 10;
  const auto reached = [&options](std::int64_t patience, std::int64_t without) {
    options.patience = patience;
    return limit_reached(options, 4, {.evaluations_since_best = without, .best = BestScore{0.5, 1, 2}}, false);
  };
  EXPECT_EQ(reached(3, 2), "");
  EXPECT_EQ(reached(3, 3), "--patience above 3, or 0");
  EXPECT_EQ(reached(0, 9), "") << "no bound";
}

}  // namespace
}  // namespace ut::launcher
