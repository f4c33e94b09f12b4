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

TEST(Evaluation, ABestByWholeSequencesNeedsTheirEnds) {
  Evaluation evaluation;
  evaluation.score = {.symbols = 10, .right_symbols = 10, .sequences = 4, .right_sequences = 1};
  EXPECT_EQ(evaluation.steering_score(BestBy::automatic), 1);
  EXPECT_EQ(evaluation.steering_score(BestBy::sequences), 0.25);
  evaluation.text.emplace();  // outputs of too few words for BLEU
  EXPECT_EQ(evaluation.steering_score(BestBy::automatic), 0);
  EXPECT_EQ(evaluation.steering_score(BestBy::bleu), 0);
  EXPECT_EQ(evaluation.steering_score(BestBy::symbols), 1);
}

}  // namespace
}  // namespace ut::launcher
