// What a model must have learned after a minute or so on two cores.

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/program/program.h"

namespace ut::tests {
namespace {

const std::string learning_settings =
    "--d-model 64 --heads 4 --ffn 256 --batch 64 --schedule constant "
    "--beta2 0.999 --epsilon 1e-8 --clip-norm 1 --label-smoothing 0 --quiet ";

nlohmann::json evaluate(const std::string& run, const std::string& options = "") {
  const Outcome outcome = run_ut("evaluate --json --ranks 2 --sequence-parallel 2 --run-dir {} {}", run, options);
  EXPECT_EQ(outcome.exit_code, 0) << outcome.errors;
  return nlohmann::json::parse(outcome.output);
}

TEST(Learning, ReversesSixDigits) {
  const TemporaryDirectory directory;
  const std::string run = directory / "run";
  const Outcome trained = run_ut(
      "train --task reverse --train-length 6 --evaluation-length 6 --evaluation-examples 200 --dropout 0 --warmup 100 "
      "--max-updates 2500 --evaluate-every 100 --checkpoint-every 0 --target-score 0.999 {} --learning-rate 0.002 "
      "--run-dir {}",
      learning_settings, run);
  ASSERT_EQ(trained.exit_code, 0) << trained.errors;
  EXPECT_GE(evaluate(run).at("accuracy").get<double>(), 0.99);
}

/// The published questions, or stories like them where they are not.
TEST(Learning, AnswersTask1OnTwoRanksWithPositionsThatHalt) {
  const TemporaryDirectory directory;
  const std::string archive = UT_SOURCE_DIR "/../shared/data/babi.tar.xz";
  const bool is_published = std::filesystem::exists(archive);
  const Outcome unpacked =
      is_published ? run_shell("tar -xJf {} -C {}", archive, directory.path().string())
                   : run_ut("data stories --facts 1 --train 10000 --out {}", std::string(directory / "stories"));
  ASSERT_EQ(unpacked.exit_code, 0) << unpacked.errors;
  const std::string run = directory / "run";
  const Outcome trained = run_ut(
      "train --task babi --babi-task 1 --data {} --ranks 2 --sequence-parallel 2 --halting act-copy --max-steps 6 "
      "--dropout 0.1 --weight-decay 0.01 --warmup 300 --max-updates 1250 --evaluate-every 0 --checkpoint-every 0 "
      "{} --schedule cosine --learning-rate 0.001 --run-dir {}",
      std::string(directory / (is_published ? "babi/tasks_1-20_v1-2/en-valid" : "stories")), learning_settings, run);
  ASSERT_EQ(trained.exit_code, 0) << trained.errors;
  const auto scores = evaluate(run);
  EXPECT_EQ(scores.at("sequences").get<int>(), 1000);
  EXPECT_GE(scores.at("accuracy").get<double>(), 0.95);  // bAbI's "learned"; 0.976 to 0.982 in four trials
  const double ponder = scores.at("ponder").at("encoder").at("mean").get<double>();
  EXPECT_GT(ponder, 1);
  EXPECT_LT(ponder, 5);
}

}  // namespace
}  // namespace ut::tests
