// What is shown of halting: in metrics.jsonl, in the progress lines and in evaluations.

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <numeric>

#include "tests/program/program.h"

namespace ut::tests {
namespace {

using nlohmann::json;
using testing::HasSubstr;

constexpr int most = 4;

class Halting : public testing::TestWithParam<std::string> {
 protected:
  /// A short run whose positions halt after different numbers of steps.
  Outcome train(const std::string& task, const std::string& ranks = "",
                const std::string& kind = "--halting-bias -0.5") const {
    return run_ut(
        "train {} --halting {} --max-steps {} {} --d-model 16 --heads 2 --ffn 32 --batch 8 --max-updates 20 "
        "--log-every 5 --evaluate-every 10 {} --run-dir {}",
        task, GetParam(), most, kind, ranks, run_);
  }

  std::string stories(const std::string& name, int facts) const {
    std::string directory = directory_ / name;
    EXPECT_EQ(
        run_ut("data stories --facts {} --train 200 --validation 20 --test 30 --out {}", facts, directory).exit_code,
        0);
    return directory;
  }

  static void expect_ponder_times(const json& ponder) {
    EXPECT_GT(ponder.at("mean").get<double>(), 1);
    EXPECT_LT(ponder.at("mean").get<double>(), most);
    EXPECT_GT(ponder.at("sd").get<double>(), 0);
    const auto histogram = ponder.at("histogram").get<std::vector<std::int64_t>>();
    ASSERT_EQ(histogram.size(), most);
    const auto counted = std::accumulate(histogram.begin(), histogram.end(), std::int64_t{0});
    EXPECT_GT(counted, 0);
    const auto running = ponder.at("running").get<std::vector<double>>();
    ASSERT_EQ(running.size(), most);
    EXPECT_EQ(running.front(), 1);
    EXPECT_TRUE(std::is_sorted(running.rbegin(), running.rend()));
    EXPECT_NEAR(std::accumulate(running.begin(), running.end(), 0.0), ponder.at("mean").get<double>(), 1e-9);
  }

  TemporaryDirectory directory_;
  std::string run_ = directory_ / "run";
};

TEST_P(Halting, IsInTheMetricsTheProgressAndTheEvaluation) {
  const Outcome trained =
      train("--task babi --babi-task 2 --data " + stories("two", 2), "--ranks 2 --sequence-parallel 2");
  ASSERT_EQ(trained.exit_code, 0) << trained.errors;
  EXPECT_THAT(trained.output, HasSubstr("  ponder "));
  EXPECT_THAT(trained.output, HasSubstr("ponder time "));
  EXPECT_THAT(trained.output, testing::ContainsRegex("parameters \\([0-9]+ of them in the table of symbols\\)"));
  EXPECT_THAT(trained.output,
              testing::ContainsRegex("[0-9.]+ .FLOP to [0-9.]+ .FLOP in the matrix products of an update"));
  const std::vector<json> updates = records_of(run_, "loss");
  for (const json& record : updates) {
    expect_ponder_times(record.at("ponder").at("encoder"));
    EXPECT_FALSE(record.at("ponder").contains("decoder"));
    EXPECT_GE(record.at("input_wait_share").get<double>(), 0);
    EXPECT_LT(record.at("input_wait_share").get<double>(), 0.5) << "made while the update before is worked on";
    EXPECT_GT(record.at("memory_bytes").get<double>(), 50e6) << "LibTorch alone has more";
    EXPECT_LT(record.at("memory_bytes").get<double>(), 2e9);
    EXPECT_GT(record.at("exchange_wait_share").get<double>(), 0);
    EXPECT_GT(record.at("gradients_wait_share").get<double>(), 0);
    EXPECT_LT(record.at("exchange_wait_share").get<double>() + record.at("gradients_wait_share").get<double>(), 1);
  }
  EXPECT_EQ(updates.size(), 4);
  for (const json& score : records_of(run_, "split")) expect_ponder_times(score.at("ponder").at("encoder"));

  const Outcome shown = run_ut("evaluate --run-dir " + run_);
  EXPECT_THAT(shown.output, HasSubstr("steps in the encoder:"));
  const json once = json::parse(run_ut("evaluate --json --run-dir " + run_).output);
  const json cut = json::parse(run_ut("evaluate --json --ranks 2 --sequence-parallel 2 --run-dir " + run_).output);
  expect_ponder_times(once.at("ponder").at("encoder"));
  EXPECT_EQ(once.at("ponder").at("encoder").at("histogram"), cut.at("ponder").at("encoder").at("histogram"));
  const json shorter = json::parse(run_ut("evaluate --json --max-steps 2 --run-dir " + run_).output);
  EXPECT_LE(shorter.at("ponder").at("encoder").at("mean").get<double>(), 2);
  EXPECT_EQ(shorter.at("encoder_steps").get<int>(), 2);
  const json sooner = json::parse(run_ut("evaluate --json --halting-threshold 0.3 --run-dir " + run_).output);
  EXPECT_LT(sooner.at("ponder").at("encoder").at("mean").get<double>(),
            once.at("ponder").at("encoder").at("mean").get<double>());
  EXPECT_EQ(sooner.at("options").at("halting-threshold"), 0.3);
}

TEST_P(Halting, RandomHaltingDoesNotDependOnTheBatchOfAnEncoder) {
  ASSERT_EQ(train("--task babi --babi-task 1 --data " + stories("one", 1), "", "--act-kind random").exit_code, 0);
  const auto evaluated = [&](int together) {
    return json::parse(run_ut("evaluate --json --evaluation-batch {} --run-dir {}", together, run_).output);
  };
  EXPECT_EQ(evaluated(1).at("ponder"), evaluated(64).at("ponder"));
}

TEST_P(Halting, RandomHaltingDoesNotDependOnTheBatchOfADecoder) {
  ASSERT_EQ(train("--task reverse --train-length 6 --evaluation-length 6 --train-examples 100 --evaluation-examples 20",
                  "", "--act-kind random")
                .exit_code,
            0);
  const auto evaluated = [&](int together) {
    return json::parse(run_ut("evaluate --json --evaluation-batch {} --run-dir {}", together, run_).output);
  };
  EXPECT_EQ(evaluated(1).at("ponder"), evaluated(64).at("ponder"));
}

TEST_P(Halting, IsReportedForEachTaskOfJointTraining) {
  const std::string all = stories("one", 1);
  for (const auto& file : std::filesystem::directory_iterator(stories("three", 3)))
    std::filesystem::copy(file.path(), all);
  const Outcome trained = train("--task babi --babi-task all --data " + all);
  ASSERT_EQ(trained.exit_code, 0) << trained.errors;
  const Outcome shown = run_ut("evaluate --run-dir " + run_);
  EXPECT_THAT(shown.output, HasSubstr("task 1: accuracy"));
  EXPECT_THAT(shown.output, HasSubstr("task 3: accuracy"));
  const json scores = json::parse(run_ut("evaluate --json --run-dir " + run_).output);
  std::int64_t questions = 0;
  for (const std::string name : {"task 1", "task 3"}) {
    questions += scores.at("groups").at(name).at("sequences").get<std::int64_t>();
    expect_ponder_times(scores.at("groups").at(name).at("ponder").at("encoder"));
  }
  EXPECT_EQ(questions, scores.at("sequences").get<std::int64_t>());
  EXPECT_FALSE(scores.at("groups").contains("task 2"));

  // As in the papers' tables: the mean error over tasks, and the number of tasks with more than 5 % wrong.
  double errors = 0;
  int failed = 0;
  for (const json& task : scores.at("groups")) {
    const double error = 1 - task.at("accuracy").get<double>();
    errors += error;
    failed += error > 0.05 ? 1 : 0;
  }
  EXPECT_EQ(scores.at("failed_tasks"), failed);
  EXPECT_NEAR(scores.at("mean_error").get<double>(), errors / 2, 1e-12);
  EXPECT_THAT(shown.output, HasSubstr(fmt::format("\n{} of 2 tasks failed (error above 5 %), mean error {:.2f} %\n",
                                                  failed, 50 * errors)));
}

TEST_P(Halting, IsReportedForDecodedOutputsOnAnyMesh) {
  const Outcome trained = train("--task reverse --train-length 6 --evaluation-length 6 --evaluation-examples 10");
  ASSERT_EQ(trained.exit_code, 0) << trained.errors;
  const json once = json::parse(run_ut("evaluate --json --run-dir " + run_).output);
  const json cut = json::parse(run_ut("evaluate --json --ranks 2 --sequence-parallel 2 --run-dir " + run_).output);
  for (const std::string stack : {"encoder", "decoder"})
    EXPECT_EQ(once.at("ponder").at(stack).at("histogram"), cut.at("ponder").at(stack).at("histogram"));
  EXPECT_EQ(once.at("accuracy"), cut.at("accuracy"));
}

INSTANTIATE_TEST_SUITE_P(, Halting, testing::Values("act", "act-copy"),
                         [](const auto& test) { return test.param == "act" ? "act" : "act_copy"; });

}  // namespace
}  // namespace ut::tests
