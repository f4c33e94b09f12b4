// The LSTM baseline as a person trains it.

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/program/program.h"

namespace ut::tests {
namespace {

using testing::HasSubstr;

class LstmTraining : public testing::TestWithParam<std::string> {
 protected:
  /// The task's options; makes its data if it needs files.
  std::string task() const {
    if (GetParam() == "addition")
      return "--task addition --train-length 9 --evaluation-length 9 --evaluation-examples 4";
    const std::string stories = directory_ / "stories";
    EXPECT_EQ(run_ut("data stories --facts 2 --train 200 --validation 20 --test 20 --out " + stories).exit_code, 0);
    return "--task babi --babi-task 2 --data " + stories;
  }

  TemporaryDirectory directory_;
};

TEST_P(LstmTraining, GivesTheSameCurveHoweverManyRanksShareTheBatch) {
  const std::string command =
      task() +
      " --model lstm --d-model 16 --dropout 0.2 --batch 6 --accumulate 2 --schedule constant --learning-rate 0.003 "
      "--warmup 5 --max-updates 20 --log-every 1 --evaluate-every 0 --checkpoint-every 0 --evaluation-limit 4 "
      "--seed 3 --dtype float64 ";
  const std::string one_rank = directory_ / "one-rank";
  const Outcome alone = run_ut("train " + command + "--run-dir " + one_rank);
  ASSERT_EQ(alone.exit_code, 0) << alone.errors;
  EXPECT_THAT(alone.output, testing::ContainsRegex("[0-9]+ parameters .*, 1 rank "));
  ASSERT_EQ(losses_of(one_rank).size(), 20);
  EXPECT_NE(losses_of(one_rank).front(), losses_of(one_rank).back());
  for (const int ranks : {2, 3}) {
    SCOPED_TRACE(ranks);
    const std::string run = directory_ / fmt::format("{}", ranks);
    const Outcome outcome = run_ut("train {} --ranks {} --run-dir {}", command, ranks, run);
    ASSERT_EQ(outcome.exit_code, 0) << outcome.errors;
    EXPECT_THAT(outcome.output, HasSubstr(fmt::format("data-parallel {}, sequence-parallel 1", ranks)));
    expect_equal_losses(losses_of(one_rank), losses_of(run), 1e-9);
    expect_equal_parameters(one_rank, run, 1e-9);
  }
}

INSTANTIATE_TEST_SUITE_P(, LstmTraining, testing::Values("addition", "stories"));

TEST(LstmProgram, LearnsToCopyFiveDigitsAndDecodesThemOnRanks) {
  const TemporaryDirectory directory;
  const std::string run = directory / "run";
  const Outcome trained = run_ut(
      "train --task copy --train-length 5 --evaluation-length 5 --model lstm --lstm-layers 1 --d-model 64 --dropout 0 "
      "--label-smoothing 0 --learning-rate 0.003 --warmup 50 --schedule cosine --max-updates 1000 --evaluate-every 200 "
      "--checkpoint-every 0 --evaluation-examples 200 --target-score 0.999 --threads 1 --quiet --run-dir " +
      run);
  ASSERT_EQ(trained.exit_code, 0) << trained.errors;
  const auto scores = json_of_ut("evaluate --json --run-dir " + run);
  EXPECT_GE(scores.at("accuracy").get<double>(), 0.99);
  for (const std::string beam : {"", " --beam 1", " --beam 4", " --beam 4 --length-penalty 0 --decode-extra 3"})
    for (const std::string ranks : {"", " --ranks 3"}) {
      const Outcome decoded =
          run_shell("printf '12345\\n4\\n99\\n' | {} decode --run-dir {}{}{}", std::getenv("UT"), run, beam, ranks);
      EXPECT_EQ(decoded.output, "12345\n4\n99\n") << beam << ranks << decoded.errors;
    }
}

TEST(LstmProgram, IsMeasuredByBenchWithTheWorkOfItsProducts) {
  const std::string command =
      "bench --model lstm --lstm-layers 3 --d-model 16 --batch 4 --length 12 --vocab 16 --iterations 2 --threads 1 "
      "--json ";
  // Each layer multiplies d x 4d by its input and by the previous state. Then every symbol is scored for 4 answers.
  constexpr std::int64_t d = 16;
  constexpr std::int64_t rows = 48;
  constexpr std::int64_t encoder = rows * 3 * 8 * d * d;
  for (const std::string ranks : {"", "--ranks 2 "}) {
    const auto result = json_of_ut(command + "--encoder-only " + ranks);
    EXPECT_GT(result.at("tokens_per_s").get<double>(), 0);
    EXPECT_EQ(result.at("parameters"), d * d + 3 * (8 * d * d + 4 * d));
    EXPECT_EQ(result.at("flops_per_update"), 6 * (encoder + 4 * d * d)) << ranks;
    EXPECT_TRUE(result.at("ponder").is_null());
    EXPECT_EQ(result.at("options").at("sequence-parallel"), 1);
  }
  // With the decoder: its layers, its attention (queries, keys, values, outputs), and scores at 48 places.
  constexpr std::int64_t attention = rows * (d * d + 2 * d * d + 2 * d * 12);
  EXPECT_EQ(json_of_ut(command).at("flops_per_update"), 6 * (2 * encoder + attention + rows * d * d));
  for (const std::string stacks : {"--greedy", "--greedy --decoder-only"})
    EXPECT_GT(json_of_ut(command + stacks).at("tokens_per_s").get<double>(), 0) << stacks;
}

TEST(LstmProgram, RefusesWhatItCannotDoInOneLine) {
  const TemporaryDirectory directory;
  for (const std::string option : {"--ranks 2 --sequence-parallel 2", "--halting act-copy", "--decoder-halting act",
                                   "--recompute step", "--precision bfloat16"}) {
    const Outcome refused = run_ut("train --task copy --model lstm {} --run-dir {}", option, directory / "run");
    EXPECT_EQ(refused.exit_code, 2) << option;
    EXPECT_THAT(refused.errors, testing::MatchesRegex("ut: --[^\n]* not with --model lstm, [^\n]*\n")) << option;
    EXPECT_EQ(run_ut("bench --model lstm " + option).errors, refused.errors);
  }
  EXPECT_FALSE(std::filesystem::exists(directory / "run"));
}

}  // namespace
}  // namespace ut::tests
