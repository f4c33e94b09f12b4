#include "launcher/run/evaluation.h"

#include <gtest/gtest.h>

namespace ut::launcher {
namespace {

Results answers(std::int64_t right, std::int64_t all) {
  Results results;
  results.score.sequences = results.score.symbols = all;
  results.score.right_sequences = results.score.right_symbols = right;
  return results;
}

TEST(Evaluation, CountsTasksWithAnErrorAboveFivePercentAsFailed) {
  Evaluation evaluation;
  evaluation.groups = {answers(95, 100), answers(94, 100), answers(0, 0), answers(20, 20)};
  EXPECT_EQ(evaluation.failed_tasks(), 1);
  EXPECT_EQ(evaluation.scored_groups(), 3);
  EXPECT_DOUBLE_EQ(evaluation.mean_of_groups(), (0.95 + 0.94 + 1) / 3);
}

}  // namespace
}  // namespace ut::launcher
