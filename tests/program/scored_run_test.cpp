// Which checkpoint of a run is its best, on which examples it is scored, and which one is tested.

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "base/file.h"
#include "tests/program/addition.h"
#include "tests/program/program.h"

namespace ut::tests {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

class ScoredRun : public testing::Test {
 protected:
  TemporaryDirectory directory_;
};

TEST_F(ScoredRun, BestIsTheMostAccurateAndAmongEqualOnesThatOfTheLeastLoss) {
  const std::string run = directory_ / "run";
  ASSERT_EQ(run_ut(addition(5, "--evaluate-every 1 --evaluation-examples 2") + "--run-dir " + run).exit_code, 0);
  ASSERT_EQ(run_ut("train --resume --max-updates 10 --run-dir " + run).exit_code, 0);
  std::tuple best{-1.0, 0.0, 0};  // accuracy, -loss, update
  std::set<double> accuracies;
  for (const auto& record : records_of(run, "validation_loss")) {
    accuracies.insert(record.at("accuracy").get<double>());
    best = std::max(best, std::tuple{record.at("accuracy").get<double>(), -record.at("validation_loss").get<double>(),
                                     record.at("update").get<int>()});
  }
  EXPECT_LT(accuracies.size(), 10);
  EXPECT_EQ(base::read_file(run + "/checkpoints/best"), fmt::format("update-{:08}\n", std::get<2>(best)));
}

TEST_F(ScoredRun, IsTestedWithItsBest) {
  const std::string run = directory_ / "run";
  ASSERT_EQ(run_ut(addition(4, "--evaluate-every 2 --evaluation-examples 40") + "--run-dir " + run).exit_code, 0);
  // These updates make the model far worse.
  ASSERT_EQ(run_ut("train --resume --learning-rate 10 --max-updates 6 --run-dir " + run).exit_code, 0);
  ASSERT_EQ(base::read_file(run + "/checkpoints/latest"), "update-00000006\n");
  const auto evaluated = [&run](const std::string& split) {
    return json_of_ut(fmt::format("evaluate --json --teacher-forced --split {} --run-dir {}", split, run));
  };
  const nlohmann::json test = evaluated("test");
  const nlohmann::json validation = evaluated("validation");
  const nlohmann::json best = test.at("updates").at(0);
  EXPECT_LT(best, 6);
  std::vector<nlohmann::json> tested;
  for (const nlohmann::json& record : records_of(run, "accuracy")) {
    const bool is_test = record.at("split") == "test";
    if (is_test) tested.push_back(record.at("update"));
    if (record.at("update") == best) {
      EXPECT_EQ(record.at("accuracy"), (is_test ? test : validation).at("accuracy"));
    }
  }
  EXPECT_EQ(tested, std::vector{best}) << "the same again is not written again";
  for (const nlohmann::json& record : records_of(run, "validation_loss"))
    if (record.at("update") == best) {
      EXPECT_NEAR(record.at("validation_loss").get<double>(), validation.at("loss").get<double>(), 1e-12);
    }
  EXPECT_NE(test.at("loss"), validation.at("loss"));
}

/// Even if --max-updates ended the run between two evaluations.
TEST_F(ScoredRun, LastUpdateIsScoredBeforeResuming) {
  const std::string run = directory_ / "run";
  ASSERT_EQ(run_ut(addition(20, "--evaluate-every 0 --evaluation-examples 40") + "--run-dir " + run).exit_code, 0);
  const std::string best = base::read_file(run + "/checkpoints/best");
  EXPECT_EQ(best, "update-00000020\n");
  ASSERT_EQ(run_ut("train --resume --learning-rate 1e-30 --max-updates 21 --run-dir " + run).exit_code, 0);
  EXPECT_EQ(base::read_file(run + "/checkpoints/best"), best) << "the next is no better";
}

/// As after --resume --checkpoint: the best was removed when a later checkpoint was better, and that one is no longer
/// part of this run.
TEST_F(ScoredRun, EvaluatesTheNewestIfTheBestIsGone) {
  const std::string run = directory_ / "run";
  ASSERT_EQ(run_ut(addition(2, "--evaluate-every 0 --evaluation-examples 4") + "--run-dir " + run).exit_code, 0);
  ASSERT_EQ(run_ut("train --resume --learning-rate 1e-30 --max-updates 3 --run-dir " + run).exit_code, 0);
  ASSERT_EQ(base::read_file(run + "/checkpoints/best"), "update-00000002\n");
  std::filesystem::remove_all(run + "/checkpoints/update-00000002");
  directory_.write("run/checkpoints/best", "update-00000003\n");
  const Outcome again = run_ut("train --resume --max-updates 3 --run-dir " + run);
  EXPECT_EQ(again.exit_code, 0) << again.errors;
  EXPECT_THAT(again.output, HasSubstr("update 3: test"));
  for (const auto& record : records_of(run, "accuracy")) EXPECT_GE(record.at("update"), 0);
}

/// Rank 0 wrote the checkpoints, and it alone reads them.
TEST_F(ScoredRun, EndsWithATestWhereOnlyRank0SeesTheRunDirectory) {
  for (const char* place : {"here", "there"}) std::filesystem::create_directory(directory_.path() / place);
  const auto rank = [&](const char* place) {
    return fmt::format("-wdir {} -n 1 $UT {} --learning-rate 2 --sequence-parallel 1 --timeout 10 --run-dir run",
                       directory_ / place, addition(6, "--evaluate-every 1 --evaluation-examples 40"));
  };
  const Outcome outcome = run_shell("timeout 60 mpirun --quiet --allow-run-as-root --oversubscribe " + rank("here") +
                                    " : " + rank("there"));
  EXPECT_EQ(outcome.exit_code, 0) << outcome.errors;
  EXPECT_THAT(outcome.output, AllOf(HasSubstr(": test "), Not(HasSubstr("update 6: test"))));
  EXPECT_TRUE(std::filesystem::is_empty(directory_.path() / "there"));
}

/// The evaluation has too many examples to be done in time; it is made when the run is resumed.
TEST_F(ScoredRun, StopsOnRequestWhileItEvaluates) {
  for (const std::string ranks : {"1", "2"}) {
    const std::string run = directory_ / ("run-" + ranks);
    const Outcome stopped = run_shell(
        "{} {} --ranks {} --run-dir {} & run=$!; n=0; until grep -q '\"update\":10' {}/metrics.jsonl; do sleep 0.1; "
        "n=$((n + 1)); [ $n -lt 600 ] || exit 9; done; sleep 0.3; kill -TERM $run; wait $run",
        std::getenv("UT"), addition(10, "--evaluate-every 10 --evaluation-examples 4000 --evaluation-batch 1"), ranks,
        run, run);
    EXPECT_EQ(stopped.exit_code, 75) << stopped.output << stopped.errors;
    EXPECT_TRUE(records_of(run, "validation_loss").empty());
    ASSERT_TRUE(std::filesystem::exists(run + "/checkpoints/latest")) << ranks;
    const auto resume = [&run](const std::string& options) {
      const Outcome resumed =
          run_ut("train --resume --evaluation-limit 50 --evaluation-batch 500 --run-dir " + run + options);
      EXPECT_EQ(resumed.exit_code, 0) << resumed.errors;
    };
    for (int time = 0; time < 2; ++time) {  // the second time the score is known
      resume(" --max-updates 10");
      ASSERT_EQ(records_of(run, "validation_loss").size(), 1);
      EXPECT_EQ(records_of(run, "validation_loss").at(0).at("update"), 10);
    }
    resume(" --max-updates 11 --learning-rate 1e-30");
    EXPECT_EQ(base::read_file(run + "/checkpoints/best"), "update-00000010\n");
  }
}

TEST_F(ScoredRun, NewestIsEvaluatedIfThereIsNoBestYet) {
  const std::string run = directory_ / "run";
  const Outcome stopped = run_shell("timeout --preserve-status -s USR1 3 {} {} --run-dir {}", std::getenv("UT"),
                                    addition(1000000, "--evaluate-every 0"), run);
  ASSERT_EQ(stopped.exit_code, 75) << stopped.output << stopped.errors;
  ASSERT_FALSE(std::filesystem::exists(run + "/checkpoints/best"));
  const auto done = losses_of(run).size();
  EXPECT_EQ(json_of_ut("evaluate --json --run-dir " + run).at("updates"), nlohmann::json({done}));
}

/// Scores on different examples cannot be compared.
TEST_F(ScoredRun, IsScoredAgainOnlyIfItsExamplesChange) {
  const std::string run = directory_ / "run";
  const auto train = [&run](const std::string& options, int scored, std::size_t recorded) {
    const Outcome outcome = run_ut(options + " --run-dir " + run);
    ASSERT_EQ(outcome.exit_code, 0) << outcome.errors;
    std::size_t place = 0;
    for (; (place = outcome.output.find(": validation ", place)) != std::string::npos; ++place) --scored;
    EXPECT_EQ(scored, 0) << outcome.output;
    EXPECT_EQ(records_of(run, "validation_loss").size(), recorded);
  };
  train(addition(4, "--evaluate-every 4 --evaluation-limit 1"), 1, 1);
  train("train --resume", 0, 1);
  train("train --resume --evaluation-limit 3", 1, 2);
  train("train --resume", 0, 2);
}

/// The best is chosen by decoded outputs, the earlier best is scored by them again, and the test uses them, too.
TEST_F(ScoredRun, ScoresDecodedOutputsIfRequested) {
  const std::string run = directory_ / "run";
  ASSERT_EQ(run_ut("train --task copy --train-length 4 --evaluation-length 4 --d-model 16 --heads 2 --ffn 16 --steps 1 "
                   "--train-examples 2000 --evaluation-examples 40 --learning-rate 0.01 --warmup 5 --max-updates 40 "
                   "--evaluate-every 20 --run-dir " +
                   run)
                .exit_code,
            0);
  const Outcome decoded = run_ut(
      "train --resume --evaluation-scoring decoded --max-updates 60 --ranks 2 --sequence-parallel 2 --run-dir " + run);
  ASSERT_EQ(decoded.exit_code, 0) << decoded.errors;
  EXPECT_THAT(decoded.output, AllOf(HasSubstr("the validation examples or the scoring have changed; update "),
                                    HasSubstr("(decoded greedily)"), Not(HasSubstr("(teacher-forced)"))));
  const auto evaluated = [&run](const std::string& options) {
    return json_of_ut("evaluate --json --run-dir " + run + " " + options);
  };
  const nlohmann::json validation = records_of(run, "validation_loss").back();
  ASSERT_EQ(validation.at("update"), 60);
  EXPECT_EQ(validation.at("scoring"), "decoded");
  const std::string newest = "--split validation --checkpoint update-60 ";
  const nlohmann::json by_symbols = evaluated(newest + "--teacher-forced");
  EXPECT_NE(validation.at("accuracy"), by_symbols.at("accuracy"));
  EXPECT_NEAR(validation.at("validation_loss").get<double>(), by_symbols.at("loss").get<double>(), 1e-4);
  const nlohmann::json test = records_of(run, "test_loss").back();
  for (const char* score : {"accuracy", "sequence_accuracy"}) {
    EXPECT_EQ(validation.at(score), evaluated(newest).at(score));
    EXPECT_EQ(test.at(score), evaluated("").at(score));
  }
}

/// The newest record of a test must be that of the score printed last.
TEST_F(ScoredRun, RecordsATestAgainWhereAnotherCameBetween) {
  const std::string run = directory_ / "run";
  ASSERT_EQ(run_ut("train --task copy --train-length 4 --evaluation-length 5 --d-model 8 --heads 1 --ffn 8 --steps 1 "
                   "--evaluation-examples 40 --max-updates 3 --run-dir " +
                   run)
                .exit_code,
            0);
  for (const std::string length : {"30", "5", "5"})
    ASSERT_EQ(run_ut("train --resume --evaluation-length " + length + " --run-dir " + run).exit_code, 0);
  const auto tests = records_of(run, "test_loss");
  ASSERT_EQ(tests.size(), 3);
  EXPECT_NE(tests[0].at("test_loss"), tests[1].at("test_loss"));
  EXPECT_EQ(tests[0].at("test_loss"), tests[2].at("test_loss"));
  for (const std::string scoring : {"decoded", "teacher-forced"}) {
    ASSERT_EQ(run_ut("train --resume --evaluation-scoring " + scoring + " --run-dir " + run).exit_code, 0);
    EXPECT_EQ(records_of(run, "test_loss").back().at("scoring"), scoring);
  }
}

/// What has not learned to end its outputs has every symbol right and no sequence.
TEST_F(ScoredRun, ItsBestCanBeThatOfWholeSequences) {
  const std::string run = directory_ / "run";
  const std::string trained =
      "--task copy --train-length 3 --evaluation-length 3 --d-model 16 --heads 2 --ffn 16 --steps 1 "
      "--evaluation-examples 40 --learning-rate 0.01 --warmup 5 --evaluate-every 20 --max-updates 60 --run-dir ";
  ASSERT_EQ(run_ut("train --best-by sequences " + trained + run).exit_code, 0);
  const nlohmann::json tested = records_of(run, "test_loss").back().at("update");
  double best = 0;
  double of_tested = -1;
  for (const nlohmann::json& record : records_of(run, "validation_loss")) {
    const double score = record.at("sequence_accuracy");
    best = std::max(best, score);
    if (record.at("update") == tested) of_tested = score;
  }
  EXPECT_EQ(of_tested, best);
  EXPECT_THAT(run_ut("train --resume --best-by auto --max-updates 61 --run-dir " + run).output,
              HasSubstr("the validation examples or the scoring have changed"));
}

/// A score on other examples does not reach --target-score.
TEST_F(ScoredRun, TargetScoreCountsOnlyCurrentExamples) {
  const std::string run = directory_ / "run";
  ASSERT_EQ(run_ut("train --task copy --train-length 2 --evaluation-length 2 --d-model 16 --heads 2 --ffn 16 --steps 1 "
                   "--train-examples 2000 --evaluation-examples 40 --evaluation-limit 2 --learning-rate 0.01 "
                   "--max-updates 60 --warmup 5 --evaluate-every 60 --run-dir " +
                   run)
                .exit_code,
            0);
  const double score = records_of(run, "validation_loss").front().at("accuracy");
  ASSERT_GT(score, 0);
  const Outcome other =
      run_ut("train --resume --evaluation-limit 0 --target-score {} --max-updates 70 --run-dir {}", score, run);
  ASSERT_EQ(other.exit_code, 0) << other.errors;
  const auto scored = other.output.find("the validation examples or the scoring have changed");
  ASSERT_NE(scored, std::string::npos) << other.output;
  EXPECT_EQ(other.output.substr(0, scored).find("nothing is left"), std::string::npos) << other.output;
}

/// The best, far from the newest, is scored again on two ranks; training goes on from the newest.
TEST_F(ScoredRun, ScoresItsBestAgainAndGoesOnFromItsNewest) {
  const std::string run = directory_ / "run";
  const std::string other = directory_ / "other";
  const std::string ranks = " --ranks 2 --sequence-parallel 1 --run-dir ";
  ASSERT_EQ(run_ut(addition(4, "--evaluate-every 2 --evaluation-examples 40") + ranks + run).exit_code, 0);
  const Outcome worse = run_ut("train --resume --learning-rate 10 --max-updates 6" + ranks + run);
  ASSERT_EQ(worse.exit_code, 0) << worse.errors;
  for (const nlohmann::json& record : records_of(run, "test_loss"))
    EXPECT_NEAR(record.at("test_loss").get<double>(),
                json_of_ut("evaluate --json --teacher-forced --run-dir " + run).at("loss").get<double>(), 1e-9)
        << "of two ranks, by one";
  std::filesystem::copy(run, other, std::filesystem::copy_options::recursive);
  ASSERT_EQ(run_ut("train --resume --max-updates 8" + ranks + run).exit_code, 0);
  const Outcome again = run_ut("train --resume --max-updates 8 --evaluation-limit 20" + ranks + other);
  EXPECT_EQ(again.exit_code, 0) << again.errors;
  EXPECT_THAT(
      again.output,
      testing::ContainsRegex(
          "the validation examples or the scoring have changed; update [24], the best so far, is scored again"));
  expect_equal_losses(losses_of(run), losses_of(other), 1e-12);
  const auto best = nlohmann::json::parse(base::read_file(other + "/checkpoints/update-00000008/state.json"));
  EXPECT_LE(best.at("best_update"), 4);
  EXPECT_NEAR(best.at("best_loss").get<double>(),
              json_of_ut("evaluate --json --teacher-forced --split validation --evaluation-limit 20 --run-dir " + other)
                  .at("loss")
                  .get<double>(),
              1e-9);
}

/// The best checkpoint is not removed when later scores are on other examples.
TEST_F(ScoredRun, KeepsTheBestWhereLaterScoresAreOfOtherExamples) {
  const std::string said =
      "the validation examples or the scoring have changed; update 4, the best so far, is scored again\nupdate 4: ";
  for (const std::string others : {"--evaluation-limit 3", "--evaluation-length 3", "--evaluation-examples 30"}) {
    const std::string run = directory_ / ("run" + others);
    const auto train = [&run](const std::string& options) { return run_ut(options + " --run-dir '" + run + "'"); };
    ASSERT_EQ(train(addition(4, "--evaluate-every 4 --evaluation-limit 1")).exit_code, 0);
    const std::string more = " --learning-rate 1e-30 --keep-checkpoints 1";
    EXPECT_THAT(train("train --resume --max-updates 8" + more).output, Not(HasSubstr(said)));
    const Outcome outcome = train("train --resume --max-updates 12 " + others + more);
    ASSERT_EQ(outcome.exit_code, 0) << outcome.errors;
    EXPECT_THAT(outcome.output, HasSubstr(said)) << others;
    EXPECT_THAT(outcome.output, HasSubstr("update 4: test "));
    EXPECT_EQ(base::read_file(run + "/checkpoints/best"), "update-00000004\n");
    EXPECT_TRUE(std::filesystem::exists(run + "/checkpoints/update-00000004"));
  }
}

TEST_F(ScoredRun, IsTestedOnAllExamplesHoweverFewValidateIt) {
  const std::string run = directory_ / "run";
  ASSERT_EQ(run_ut(addition(4, "--evaluate-every 2 --evaluation-limit 3 --evaluation-examples 20") + "--run-dir " + run)
                .exit_code,
            0);
  const auto records = records_of(run, "split");
  EXPECT_EQ(records.front().at("sequences"), 3);
  EXPECT_EQ(records.back().at("split"), "test");
  EXPECT_EQ(records.back().at("sequences"), 20);
  EXPECT_EQ(json_of_ut("evaluate --json --run-dir " + run).at("sequences"), 20);
}

}  // namespace
}  // namespace ut::tests
