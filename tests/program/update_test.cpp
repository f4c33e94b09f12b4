// What an update of `ut train` does, by the numbers in metrics.jsonl. Every update sees the same examples and moves no
// parameter, so two updates differ only in what the options ask for.

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <string>
#include <vector>

#include "tests/program/program.h"

namespace ut::tests {
namespace {

using nlohmann::json;

constexpr double unmoved = 1e-9;
constexpr const char* one_example = "--train-examples 1 --batch 1";
constexpr const char* four_examples = "--train-examples 4 --batch 4";

class Update : public testing::Test {
 protected:
  /// The records of `count` updates.
  std::vector<json> updates(
      int count, const std::string& options, const std::string& batch = four_examples,
      const std::string& schedule_options = "--learning-rate 1e-30 --evaluate-every 0 --evaluation-examples 4") {
    std::filesystem::remove_all(run_);
    const Outcome trained = run_ut(
        "train --task addition --train-length 7 --evaluation-length 7 --d-model 16 --heads 2 --ffn 24 --dtype float64 "
        "--log-every 1 --schedule constant --max-updates {} {} {} {} --run-dir {}",
        count, batch, schedule_options, options, run_);
    EXPECT_EQ(trained.exit_code, 0) << trained.errors;
    return records_of(run_, "loss");
  }
  static double loss(const json& record) { return record.at("loss").get<double>(); }

  TemporaryDirectory directory_;
  std::string run_ = directory_ / "run";
};

TEST_F(Update, DrawsDropoutAnew) {
  std::set<double> losses;
  for (const json& record : updates(5, "--dropout 0.2", one_example)) losses.insert(loss(record));
  EXPECT_EQ(losses.size(), 5);
  const auto without = updates(3, "--dropout 0", one_example);
  for (const json& record : without) EXPECT_NEAR(loss(record), loss(without.at(0)), unmoved);
}

TEST_F(Update, DrawsOffsetsAnew) {
  std::set<double> losses;
  for (const json& record : updates(5, "--dropout 0 --random-offset 100000", one_example)) losses.insert(loss(record));
  EXPECT_EQ(losses.size(), 5);
}

TEST_F(Update, RecordsTheMeanLossPerLabel) {
  const double plain = loss(updates(1, "--dropout 0 --label-smoothing 0").at(0));
  const json evaluated = json_of_ut("evaluate --json --teacher-forced --split train --run-dir " + run_);
  EXPECT_EQ(evaluated.at("sequences"), 4);
  EXPECT_NEAR(plain, evaluated.at("loss").get<double>(), unmoved);
  EXPECT_GT(std::abs(loss(updates(1, "--dropout 0 --label-smoothing 0.1").at(0)) - plain), 0.01);
}

TEST_F(Update, IsTheSameInParts) {
  for (const std::string by_chance : {"--dropout 0", "--dropout 0.2 --random-offset 9"}) {
    const json whole = updates(1, by_chance).at(0);
    const json parts = updates(1, by_chance + " --accumulate 2", "--train-examples 4 --batch 2").at(0);
    EXPECT_NEAR(loss(parts), loss(whole), unmoved);
    EXPECT_NEAR(parts.at("gradient_norm").get<double>(), whole.at("gradient_norm").get<double>(), unmoved);
  }
}

/// There are so many rows that every thread has some.
TEST_F(Update, IsTheSameWithMoreThreads) {
  for (const std::string model : {"--halting act-copy --max-steps 4", "--transition separable-convolution"}) {
    std::vector<json> made;
    for (const int threads : {1, 4}) {
      std::filesystem::remove_all(run_);
      const Outcome trained = run_ut(
          "train --task addition --train-length 40 --evaluation-length 7 --evaluation-examples 4 --d-model 64 --heads "
          "2 --ffn 128 --dropout 0.2 --dtype float64 --log-every 1 --evaluate-every 0 --train-examples 64 --batch 64 "
          "--max-updates 1 {} --threads {} --run-dir {}",
          model, threads, run_);
      ASSERT_EQ(trained.exit_code, 0) << trained.errors;
      made.push_back(records_of(run_, "loss").at(0));
    }
    EXPECT_NEAR(loss(made[0]), loss(made[1]), unmoved) << model;
    EXPECT_NEAR(made[0].at("gradient_norm").get<double>(), made[1].at("gradient_norm").get<double>(), unmoved);
  }
}

/// All updates are alike, so the seconds that follow from rows_per_s add up to the training's without its evaluations.
TEST_F(Update, SaysHowManyRowsASecondItMade) {
  for (const bool evaluates : {false, true}) {
    const int count = evaluates ? 40 : 300;
    const auto records =
        updates(count, "--dropout 0", four_examples,
                fmt::format("--learning-rate 1e-30 --evaluate-every {} --evaluation-examples 400", evaluates ? 1 : 0));
    const double rows = records_of(run_, "flops_per_update").at(0).at("rows").get<double>();
    double seconds = 0;
    for (const json& record : records) seconds += rows / record.at("rows_per_s").get<double>();
    const double all = 3600 * records.back().at("hours").get<double>();
    EXPECT_LT(seconds, evaluates ? 0.5 * all : 1.01 * all);
    EXPECT_GT(seconds, evaluates ? 0 : 0.1 * all);
    for (const json& record : records) EXPECT_LE(record.at("input_wait_share").get<double>(), 1.01);
  }
}

TEST_F(Update, WarmsThePonderTimesWeightUp) {
  const auto records =
      updates(7, "--dropout 0 --halting act --max-steps 6 --halting-bias -0.5 --ponder-weight 2 --ponder-warmup 4");
  const double cost = (loss(records.at(4)) - loss(records.at(0))) / 2;
  for (std::size_t update = 0; update < records.size(); ++update)
    EXPECT_NEAR(loss(records.at(update)),
                loss(records.at(0)) + 2 * cost * std::min(1.0, 0.25 * static_cast<double>(update)), unmoved)
        << update;
  const json& ponder = records.at(0).at("ponder");
  const double steps = ponder.at("encoder").at("mean").get<double>() + ponder.at("decoder").at("mean").get<double>();
  EXPECT_GT(cost, steps) << "updates and remainders";
  EXPECT_LT(cost, steps + 2);
}

TEST_F(Update, WarmsTheLearningRateUp) {
  const auto records =
      updates(6, "", four_examples, "--learning-rate 4e-30 --warmup 4 --evaluate-every 0 --evaluation-examples 4");
  for (std::size_t update = 0; update < records.size(); ++update)
    EXPECT_DOUBLE_EQ(records.at(update).at("learning_rate").get<double>(),
                     1e-30 * std::min(4.0, static_cast<double>(update + 1)));
}

TEST_F(Update, IsTheLastIfTheTargetScoreIsReached) {
  const auto records =
      updates(60, "", four_examples,
              "--learning-rate 0.01 --warmup 0 --target-score 0.05 --evaluation-examples 4 --evaluate-every 2");
  EXPECT_LT(records.size(), 60);
  EXPECT_EQ(records.size() % 2, 0);
  EXPECT_GE(records_of(run_, "validation_loss").back().at("accuracy").get<double>(), 0.05);
}

TEST_F(Update, IsTheLastWhenPatienceRunsOut) {
  const std::string of_no_use = "--learning-rate 1e-30 --evaluation-examples 4 --evaluate-every 2 --patience 3";
  EXPECT_EQ(updates(60, "", four_examples, of_no_use).size(), 8);
  const Outcome over = run_ut("train --resume --run-dir " + run_);
  EXPECT_THAT(over.output, testing::HasSubstr("after update 8; to go on, give --patience above 3, or 0\n"));
  const Outcome more = run_ut("train --resume --patience 5 --run-dir " + run_);
  EXPECT_EQ(more.exit_code, 0) << more.errors;
  EXPECT_EQ(losses_of(run_).size(), 12);
}

TEST_F(Update, IsFollowedByACheckpointOnceTheNewestIsOld) {
  const std::string schedule_options =
      "--learning-rate 1e-30 --evaluate-every 0 --evaluation-examples 4 --keep-checkpoints 9 "
      "--ranks 2 --sequence-parallel 1 --checkpoint-every 0 --checkpoint-minutes ";
  const auto checkpoints = [&](const std::string& minutes) {
    updates(4, "", four_examples, schedule_options + minutes);
    std::set<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(run_ + "/checkpoints"))
      if (entry.is_directory() && !entry.is_symlink()) names.insert(entry.path().filename());
    return names.size();
  };
  EXPECT_EQ(checkpoints("1e-9"), 4);
  EXPECT_EQ(checkpoints("60"), 1);
}

TEST_F(Update, IsRecordedIfAnEvaluationMakesItTheLast) {
  const auto records = updates(60, "", four_examples,
                               "--learning-rate 0.01 --warmup 0 --target-score 0.05 --evaluation-examples 4 "
                               "--evaluate-every 2 --log-every 1000");
  ASSERT_EQ(records.size(), 1);
  EXPECT_EQ(records.front().at("update"), records_of(run_, "validation_loss").back().at("update"));
}

}  // namespace
}  // namespace ut::tests
