// Training as a person runs it: taken up again, stopped, under their own mpirun, with a rank that fails.

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <set>
#include <tuple>

#include "base/file.h"
#include "tests/program/program.h"

namespace ut::tests {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

std::string addition(int updates, const std::string& evaluation = "--evaluate-every 10 --evaluation-examples 40",
                     const std::string& batch = "--batch 8") {
  return fmt::format(
      "train --task addition --train-length 9 --evaluation-length 9 --d-model 16 --heads 2 --ffn 32 --steps 2 "
      "--dropout 0.2 {} --train-examples 100 --dtype float64 --log-every 1 --checkpoint-every 10 "
      "--schedule constant --learning-rate 0.003 --warmup 5 --max-updates {} {} ",
      batch, updates, evaluation);
}

class Running : public testing::Test {
 protected:
  TemporaryDirectory directory_;
};

TEST_F(Running, ResumesTheSameCurveOnTheSameAndOnAnotherMesh) {
  for (const std::string batch : {"--batch 8", "--batch-rows 60 --batch-window 20"}) {
    const auto training = [&batch](int updates) {
      return addition(updates, "--evaluate-every 10 --evaluation-examples 40", batch);
    };
    const std::string whole = directory_ / "whole";
    std::filesystem::remove_all(whole);
    ASSERT_EQ(run_ut(training(30) + "--run-dir " + whole).exit_code, 0);
    for (const std::string ranks : {"", "--ranks 2 --sequence-parallel 2", "--ranks 3 --sequence-parallel 1"}) {
      SCOPED_TRACE(batch + ranks);
      const std::string run = directory_ / "parts";
      std::filesystem::remove_all(run);
      ASSERT_EQ(run_ut(training(15) + "--run-dir " + run).exit_code, 0);
      const Outcome resumed = run_ut("train --resume --max-updates 30 --run-dir " + run + " " + ranks);
      ASSERT_EQ(resumed.exit_code, 0) << resumed.errors;
      expect_equal_losses(losses_of(whole), losses_of(run), ranks.empty() ? 1e-15 : 1e-9);
      expect_equal_parameters(whole, run, ranks.empty() ? 0 : 1e-9);
    }
  }
}

TEST_F(Running, TheBestIsTheMostAccurateAndOfEqualOnesThatOfTheLeastLoss) {
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

TEST_F(Running, IsTestedWithItsBest) {
  const std::string run = directory_ / "run";
  ASSERT_EQ(run_ut(addition(4, "--evaluate-every 2 --evaluation-examples 40") + "--run-dir " + run).exit_code, 0);
  // What comes now is far worse.
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

/// Though the run ended, by its own count, between two evaluations.
TEST_F(Running, TheBestOfItsEndIsKnownWhenItGoesOn) {
  const std::string run = directory_ / "run";
  ASSERT_EQ(run_ut(addition(20, "--evaluate-every 0 --evaluation-examples 40") + "--run-dir " + run).exit_code, 0);
  const std::string best = base::read_file(run + "/checkpoints/best");
  EXPECT_EQ(best, "update-00000020\n");
  ASSERT_EQ(run_ut("train --resume --learning-rate 1e-30 --max-updates 21 --run-dir " + run).exit_code, 0);
  EXPECT_EQ(base::read_file(run + "/checkpoints/best"), best) << "the next is no better";
}

/// As after --resume --checkpoint: the best so far was removed when a later one was better, which is none of this run.
TEST_F(Running, WithoutItsBestIsEvaluatedBeforeItIsTested) {
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

TEST_F(Running, ThatHasLostItsCheckpointsKeepsItsScores) {
  const std::string run = directory_ / "run";
  ASSERT_EQ(run_ut(addition(4) + "--run-dir " + run).exit_code, 0);
  const std::string records = base::read_file(run + "/metrics.jsonl");
  std::filesystem::remove_all(run + "/checkpoints");
  for (const std::string& begun : {addition(2), std::string("train --resume ")}) {
    const Outcome refused = run_ut(begun + "--run-dir " + run);
    EXPECT_EQ(refused.exit_code, 2);
    EXPECT_THAT(refused.errors, HasSubstr("its run's checkpoints are gone, its scores are not; remove it, or use"));
    EXPECT_EQ(base::read_file(run + "/metrics.jsonl"), records);
  }
  // A kill came between the first score and its checkpoint.
  directory_.write("run/metrics.jsonl", records.substr(0, records.find('\n', records.find("\"split\"")) + 1));
  EXPECT_EQ(run_ut(addition(2) + "--run-dir " + run).exit_code, 0);
}

TEST_F(Running, WithoutStandardStreamsWritesNothingOfThemIntoItsFiles) {
  const std::string run = directory_ / "run";
  const Outcome closed = run_shell("$UT " + addition(2) + "--run-dir " + run + " <&- >&- 2>&-");
  EXPECT_EQ(closed.exit_code, 1) << "what it says cannot be written";
  EXPECT_EQ(base::read_file(run + "/metrics.jsonl").front(), '{');
  EXPECT_EQ(losses_of(run).size(), 2);
  EXPECT_EQ(run_shell("timeout 60 $UT decode --ranks 2 --run-dir " + run + " <&-").exit_code, 0);
}

TEST_F(Running, WaitsForALateInputAsLongAsItTakes) {
  const std::string run = directory_ / "run";
  ASSERT_EQ(run_ut(addition(2) + "--run-dir " + run).exit_code, 0);
  const Outcome late = run_shell("(sleep 15; echo 1+2) | $UT decode --ranks 2 --timeout 10 --run-dir " + run);
  EXPECT_EQ(late.exit_code, 0) << late.errors;
  EXPECT_EQ(std::ranges::count(late.output, '\n'), 1);
}

TEST_F(Running, GoesOnOnANumberOfRanksThatItsMeshDoesNotFit) {
  const std::string run = directory_ / "run";
  ASSERT_EQ(run_ut(addition(2) + "--ranks 3 --sequence-parallel 3 --run-dir " + run).exit_code, 0);
  const Outcome resumed = run_ut("train --resume --ranks 2 --max-updates 4 --run-dir " + run);
  EXPECT_EQ(resumed.exit_code, 0) << resumed.errors;
}

TEST_F(Running, OneRankLeavesTheMeshToMoreThatGoOnWithIt) {
  const std::string run = directory_ / "run";
  const auto on = [&](int ranks, int updates) {
    const Outcome resumed =
        run_ut(fmt::format("train --resume --ranks {} --max-updates {} --run-dir {}", ranks, updates, run));
    EXPECT_EQ(resumed.exit_code, 0) << resumed.errors;
    return resumed.output;
  };
  ASSERT_EQ(run_ut(addition(2) + "--ranks 1 --run-dir " + run).exit_code, 0);
  EXPECT_THAT(on(2, 4), HasSubstr("mesh as ut plan has it"));
  ASSERT_EQ(run_ut("train --resume --ranks 2 --sequence-parallel 2 --max-updates 6 --run-dir " + run).exit_code, 0);
  on(1, 8);
  EXPECT_THAT(on(2, 10), Not(HasSubstr("mesh as ut plan has it")));
  EXPECT_THAT(base::read_file(run + "/options.conf"), HasSubstr("sequence-parallel = 2\n"));
}

TEST_F(Running, IsNotGoneOnWithWhereARankSeesAnotherCheckpoint) {
  const std::string run = directory_ / "run";
  const std::string late = directory_ / "late";
  ASSERT_EQ(run_ut(addition(2) + "--run-dir " + run).exit_code, 0);
  std::filesystem::copy(run, late, std::filesystem::copy_options::recursive);
  ASSERT_EQ(run_ut("train --resume --max-updates 3 --run-dir " + run).exit_code, 0);
  const std::string rank = "-n 1 $UT train --resume --max-updates 4 --sequence-parallel 1 --timeout 10 --run-dir ";
  const Outcome outcome = run_shell(
      fmt::format("timeout 60 mpirun --quiet --allow-run-as-root --oversubscribe {}{} : {}{}", rank, run, rank, late));
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_THAT(outcome.errors, testing::StartsWith("ut: --run-dir " + run + ": rank 1 on host "));
  EXPECT_THAT(outcome.errors, HasSubstr("sees another checkpoint than the other ranks"));

  // Of the same name, but another.
  ASSERT_EQ(run_ut("train --resume --learning-rate 0.1 --max-updates 3 --run-dir " + late).exit_code, 0);
  const std::string evaluation = "-n 1 $UT evaluate --checkpoint latest --sequence-parallel 1 --timeout 10 --run-dir ";
  const Outcome scored = run_shell(fmt::format(
      "timeout 60 mpirun --quiet --allow-run-as-root --oversubscribe {}{} : {}{}", evaluation, run, evaluation, late));
  EXPECT_EQ(scored.exit_code, 2);
  EXPECT_THAT(scored.errors, HasSubstr("rank 1 on host "));
  EXPECT_THAT(scored.errors, HasSubstr("was given --learning-rate 0.1, rank 0 --learning-rate 0.003; give all ranks"));
}

/// As from a settings file that is another on another host.
TEST_F(Running, IsRefusedWhereRanksHaveOtherOptions) {
  const std::string run = directory_ / "run";
  const std::string rank = "-n 1 $UT " + addition(2) + "--timeout 10 --sequence-parallel 1 --run-dir " + run;
  for (const std::string other : {"--dropout 0.5", "--ffn 64", "--seed 7", "--check-ranks 5"}) {
    const Outcome outcome = run_shell(
        fmt::format("timeout 60 mpirun --quiet --allow-run-as-root --oversubscribe {} : {} {}", rank, rank, other));
    EXPECT_EQ(outcome.exit_code, 2) << outcome.errors;
    EXPECT_THAT(outcome.errors, testing::StartsWith("ut: rank 1 on host "));
    EXPECT_THAT(outcome.errors, HasSubstr("was given " + other + ", rank 0 --"));
    EXPECT_FALSE(std::filesystem::exists(run));
  }
}

/// The others wait for it in MPI, which it has not come to.
TEST_F(Running, IsRefusedWhereOneRankAloneDoesNotSeeTheRun) {
  for (const char* place : {"here", "there"}) std::filesystem::create_directory(directory_.path() / place);
  ASSERT_EQ(run_ut(addition(2) + "--run-dir " + (directory_ / "here/run")).exit_code, 0);
  for (const std::string command : {"evaluate --run-dir run", "train --resume --max-updates 4 --run-dir run"}) {
    const auto rank = [&](const char* place) {
      return fmt::format("-wdir {} -n 1 $UT {} --sequence-parallel 1 --timeout 10", directory_ / place, command);
    };
    const Outcome outcome = run_shell("timeout 60 mpirun --quiet --allow-run-as-root --oversubscribe " + rank("here") +
                                      " : " + rank("there"));
    EXPECT_EQ(outcome.exit_code, 2);
    EXPECT_THAT(outcome.errors, testing::StartsWith("ut: rank 1 on host "));
    EXPECT_THAT(outcome.errors, HasSubstr(": --run-dir run: there is no run (no options.conf)"));
  }
  std::ofstream(directory_ / "here/settings") << "ranks = 2\n";
  std::ofstream(directory_ / "there/settings") << "ranks = 4\n";
  const auto rank = [&](const char* place) {
    return fmt::format("-wdir {} -n 1 $UT {} --config settings --run-dir new", directory_ / place, addition(2));
  };
  const Outcome outcome = run_shell("timeout 60 mpirun --quiet --allow-run-as-root --oversubscribe " + rank("here") +
                                    " : " + rank("there"));
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_THAT(outcome.errors, AllOf(testing::StartsWith("ut: rank 1 on host "), HasSubstr("--ranks: 4 given")));
}

/// Checkpoints are read by the rank that wrote them.
TEST_F(Running, EndsWithATestWhereOnlyRank0SeesTheRunDirectory) {
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

TEST_F(Running, ThatIsDoneSaysSoAndIsTestedOnce) {
  const std::string run = directory_ / "run";
  ASSERT_EQ(run_ut(addition(4) + "--run-dir " + run).exit_code, 0);
  const std::string metrics = base::read_file(run + "/metrics.jsonl");
  const Outcome again = run_ut("train --resume --run-dir " + run);
  EXPECT_THAT(again.output, HasSubstr("nothing is left to train after update 4; --max-updates above 4 goes on"));
  EXPECT_EQ(base::read_file(run + "/metrics.jsonl"), metrics);
  EXPECT_EQ(run_ut("train --resume --ranks 2 --sequence-parallel 2 --run-dir " + run).exit_code, 0);
  EXPECT_EQ(base::read_file(run + "/metrics.jsonl"), metrics);
  const Outcome fewer = run_ut("train --resume --max-updates 3 --run-dir " + run);
  EXPECT_EQ(fewer.exit_code, 2);
  EXPECT_THAT(fewer.errors, HasSubstr("--max-updates 3: the run is at update 4"));
}

TEST_F(Running, WhoseTimeIsOverDoesNoMoreWhenItGoesOn) {
  const std::string run = directory_ / "run";
  const std::string options = addition(1000000, "--evaluate-every 0 --evaluation-examples 2") + "--max-hours 0.0003 ";
  ASSERT_EQ(run_ut(options + "--run-dir " + run).exit_code, 0);
  const std::string latest = base::read_file(run + "/checkpoints/latest");
  EXPECT_EQ(run_ut("train --resume --run-dir " + run).exit_code, 0);
  EXPECT_EQ(base::read_file(run + "/checkpoints/latest"), latest);
}

TEST_F(Running, StopsOnRequestWithACheckpointAndGoesOn) {
  const std::string run = directory_ / "run";
  // The process that starts ranks gets the signal, as from a batch system or a person.
  const Outcome stopped =
      run_shell(fmt::format("timeout --preserve-status -s TERM 5 {} {} --ranks 2 --sequence-parallel 2 --run-dir {}",
                            std::getenv("UT"), addition(1000000), run));
  EXPECT_EQ(stopped.exit_code, 75) << stopped.output << stopped.errors;
  EXPECT_EQ(stopped.errors, "");
  EXPECT_THAT(stopped.output, HasSubstr("--resume"));
  const auto done = losses_of(run).size();
  ASSERT_GT(done, 0);
  const Outcome resumed = run_ut(fmt::format("train --resume --max-updates {} --run-dir {}", done + 3, run));
  EXPECT_EQ(resumed.exit_code, 0) << resumed.errors;
  EXPECT_EQ(losses_of(run).size(), done + 3);
}

/// As a batch system does when the time is over: mpirun and the ranks get it, too.
TEST_F(Running, StopsWhereEveryProcessIsAsked) {
  for (const std::string signal : {"TERM", "INT"}) {
    const std::string run = directory_ / signal;
    const Outcome stopped = run_shell(
        fmt::format("{0} {1} --ranks 2 --sequence-parallel 2 --run-dir {2} & job=$!; n=0; "
                    "until grep -sq '\"update\":3,' {2}/metrics.jsonl; do sleep 0.1; n=$((n + 1)); [ $n -lt 600 ] || "
                    "exit 9; done; pkill -{3} -f -- '^({0}|[^ ]*mpirun) .*[-]-run-dir {2}( |$)'; wait $job",
                    std::getenv("UT"), addition(1000000), run, signal));
    EXPECT_EQ(stopped.exit_code, 75) << stopped.output << stopped.errors;
    EXPECT_EQ(stopped.errors, "");
    EXPECT_TRUE(std::filesystem::exists(run + "/checkpoints/latest")) << signal;
  }
}

TEST_F(Running, CtrlCTwiceAtOnceIsOneRequest) {
  const Outcome stopped =
      run_shell(fmt::format("bash -c '(sleep 5; kill -INT $$; sleep 0.2; kill -INT $$) & exec $UT {} --ranks 2 "
                            "--sequence-parallel 1 --run-dir {}'",
                            addition(1000000), directory_ / "run"));
  EXPECT_EQ(stopped.exit_code, 75) << stopped.output << stopped.errors;
  EXPECT_EQ(stopped.errors, "");
}

/// The evaluation, of more examples than it could score in time, comes when the run goes on.
TEST_F(Running, StopsOnRequestWhileItEvaluates) {
  for (const std::string ranks : {"1", "2"}) {
    const std::string run = directory_ / ("run-" + ranks);
    const Outcome stopped = run_shell(fmt::format(
        "{} {} --ranks {} --run-dir {} & run=$!; n=0; until grep -q '\"update\":10' {}/metrics.jsonl; do sleep 0.1; "
        "n=$((n + 1)); [ $n -lt 600 ] || exit 9; done; sleep 0.3; kill -TERM $run; wait $run",
        std::getenv("UT"), addition(10, "--evaluate-every 10 --evaluation-examples 200000 --evaluation-batch 50"),
        ranks, run, run));
    EXPECT_EQ(stopped.exit_code, 75) << stopped.output << stopped.errors;
    EXPECT_TRUE(records_of(run, "validation_loss").empty());
    ASSERT_TRUE(std::filesystem::exists(run + "/checkpoints/latest")) << ranks;
    const auto resume = [&run](const std::string& options) {
      const Outcome resumed = run_ut("train --resume --evaluation-limit 50 --run-dir " + run + options);
      EXPECT_EQ(resumed.exit_code, 0) << resumed.errors;
    };
    for (int time = 0; time < 2; ++time) {  // what comes of it is known from then on
      resume(" --max-updates 10");
      ASSERT_EQ(records_of(run, "validation_loss").size(), 1);
      EXPECT_EQ(records_of(run, "validation_loss").at(0).at("update"), 10);
    }
    resume(" --max-updates 11 --learning-rate 1e-30");
    EXPECT_EQ(base::read_file(run + "/checkpoints/best"), "update-00000010\n");
  }
}

TEST_F(Running, GoesOnWithTheNewestWhereNoneIsTheBestYet) {
  const std::string run = directory_ / "run";
  const Outcome stopped = run_shell(fmt::format("timeout --preserve-status -s USR1 3 {} {} --run-dir {}",
                                                std::getenv("UT"), addition(1000000, "--evaluate-every 0"), run));
  ASSERT_EQ(stopped.exit_code, 75) << stopped.output << stopped.errors;
  ASSERT_FALSE(std::filesystem::exists(run + "/checkpoints/best"));
  const auto done = losses_of(run).size();
  EXPECT_EQ(json_of_ut("evaluate --json --run-dir " + run).at("updates"), nlohmann::json({done}));
}

/// A score on some examples says nothing of one on others.
TEST_F(Running, ComparesScoresOfTheSameExamples) {
  const std::string run = directory_ / "run";
  const auto train = [&run](const std::string& options) {
    const Outcome outcome = run_ut(options + " --run-dir " + run);
    ASSERT_EQ(outcome.exit_code, 0) << outcome.errors;
  };
  train(addition(4, "--evaluate-every 2 --evaluation-limit 1"));
  EXPECT_EQ(records_of(run, "validation_loss").size(), 2);
  train("train --resume");
  EXPECT_EQ(records_of(run, "validation_loss").size(), 2);
  train("train --resume --evaluation-limit 3");
  EXPECT_EQ(records_of(run, "validation_loss").size(), 3);
  train("train --resume");
  EXPECT_EQ(records_of(run, "validation_loss").size(), 3);
}

/// Nor is the aim reached by one of them.
TEST_F(Running, ReachesItsAimOnTheExamplesOfNow) {
  const std::string run = directory_ / "run";
  ASSERT_EQ(run_ut("train --task copy --train-length 2 --evaluation-length 2 --d-model 16 --heads 2 --ffn 16 --steps 1 "
                   "--train-examples 2000 --evaluation-examples 40 --evaluation-limit 2 --learning-rate 0.01 "
                   "--max-updates 60 --warmup 5 --evaluate-every 60 --run-dir " +
                   run)
                .exit_code,
            0);
  const double score = records_of(run, "validation_loss").front().at("accuracy");
  ASSERT_GT(score, 0);
  const Outcome other = run_ut(
      fmt::format("train --resume --evaluation-limit 0 --target-score {} --max-updates 70 --run-dir {}", score, run));
  ASSERT_EQ(other.exit_code, 0) << other.errors;
  const auto scored = other.output.find("scored on other examples from now on");
  ASSERT_NE(scored, std::string::npos) << other.output;
  EXPECT_EQ(other.output.substr(0, scored).find("nothing is left"), std::string::npos) << other.output;
}

/// Nor does the best one go because of it.
TEST_F(Running, KeepsTheBestWhereLaterScoresAreOfOtherExamples) {
  const std::string said = "scored on other examples from now on: update 4, the best so far: validation ";
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

TEST_F(Running, IsTestedOnAllExamplesHoweverFewValidateIt) {
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

TEST_F(Running, SaysWhatChangesAndWhatIsDroppedWhenItGoesOn) {
  const std::string run = directory_ / "run";
  const std::string resume = "train --resume --run-dir " + run;
  ASSERT_EQ(run_ut(addition(30) + "--schedule cosine --keep-checkpoints 5 --run-dir " + run).exit_code, 0);
  const std::string metrics = base::read_file(run + "/metrics.jsonl");
  const Outcome refused = run_ut(resume + " --checkpoint update-10 --max-updates 10");
  EXPECT_EQ(refused.exit_code, 2);
  EXPECT_EQ(
      refused.errors,
      "ut: --checkpoint update-10: what came after it would be dropped, and nothing is left to train after update "
      "10; --max-updates above 10 goes on\n");
  EXPECT_EQ(base::read_file(run + "/metrics.jsonl"), metrics);

  const Outcome longer = run_ut(resume + " --max-updates 40 --learning-rate 0.006 --log-every 2 --threads 1");
  EXPECT_THAT(longer.output,
              HasSubstr("goes on with --learning-rate 0.006 (0.003 so far), --max-updates 40 (30 so far), "
                        "--log-every 2 (1 so far)\nthe learning rate is "));
  EXPECT_THAT(longer.output, Not(HasSubstr("is dropped")));
  ASSERT_EQ(run_ut("evaluate --checkpoint update-20 --run-dir " + run).exit_code, 0);
  const std::string kept = base::read_file(run + "/evaluations.jsonl");
  ASSERT_EQ(run_ut("evaluate --average 2 --run-dir " + run).exit_code, 0);
  const Outcome earlier = run_ut(resume + " --checkpoint update-20");
  EXPECT_EQ(base::read_file(run + "/evaluations.jsonl"), kept) << "none of what was dropped";
  EXPECT_THAT(
      earlier.output,
      HasSubstr("goes on after update 20: what was recorded up to update 40 is dropped, with the checkpoints\n"));
  EXPECT_THAT(run_ut(resume).output, AllOf(Not(HasSubstr("goes on with")), Not(HasSubstr("is dropped"))));
}

TEST_F(Running, IsAskedToStopEvenWhileLibrariesAreLoaded) {
  // SIGUSR1 is held from the first moment on, long before main; a job's warning may come then. Where the program starts
  // the ranks, neither mpirun nor they are there yet.
  for (const std::string ranks : {"1", "2", "2 --evaluate-every 1"}) {  // the last says something all the time
    const std::string run = directory_ / ("run-" + ranks);
    const Outcome stopped =
        run_shell(fmt::format("{} {} --ranks {} --run-dir '{}' & run=$!; n=0; until grep -q "
                              "'^SigBlk:.*[2367abef]..$' /proc/$run/status; do n=$((n + 1)); [ $n -lt 1000 ] || exit "
                              "9; done; kill -USR1 $run; wait $run",
                              std::getenv("UT"), addition(5000), ranks, run));
    EXPECT_EQ(stopped.exit_code, 75) << ranks << stopped.output << stopped.errors;
    const bool has_begun = std::filesystem::exists(run + "/checkpoints/latest");
    EXPECT_EQ(stopped.errors,
              has_begun ? "" : "ut: stopped on request before training began; the same command goes on\n");
    EXPECT_TRUE(has_begun || ranks != "1") << "which has nothing to wait for";
  }
}

TEST_F(Running, WorksUnderAPersonsOwnMpirun) {
  const Outcome outcome =
      run_shell(fmt::format("OMP_NUM_THREADS=1 mpirun --allow-run-as-root --oversubscribe --bind-to none -n 2 {} {} "
                            "--sequence-parallel 2 --run-dir {}",
                            std::getenv("UT"), addition(4), directory_ / "run"));
  EXPECT_EQ(outcome.exit_code, 0) << outcome.errors;
  EXPECT_THAT(outcome.output, HasSubstr("2 ranks,"));
  EXPECT_EQ(losses_of(directory_ / "run").size(), 4);
}

TEST_F(Running, SaysWhyMpirunCannotBeRun) {
  directory_.write("broken/mpirun", "#!/nowhere/sh\n");
  std::filesystem::permissions(directory_ / "broken/mpirun", std::filesystem::perms::owner_all);
  std::filesystem::create_directories(directory_ / "folder/mpirun");
  const auto with = [&](const std::string& path) {
    const Outcome refused = run_shell(fmt::format("PATH={} {} {} --ranks 2 --run-dir {}", directory_ / path,
                                                  std::getenv("UT"), addition(4), directory_ / "run"));
    EXPECT_EQ(refused.exit_code, 2);
    EXPECT_FALSE(std::filesystem::exists(directory_ / "run"));
    return refused.errors;
  };
  EXPECT_EQ(with("broken"),
            fmt::format("ut: {}: cannot be run: No such file or directory\n", directory_ / "broken/mpirun"));
  EXPECT_THAT(with("folder"), HasSubstr("mpirun is not installed"));
}

TEST_F(Running, ARankThatFailsEndsTheJobWithOneMessage) {
  const std::string run = directory_ / "run";
  // Rank 0 cannot write its checkpoint, while rank 1 waits for it in the next update's all-reduce.
  const std::string make_unwritable = fmt::format(
      "(sleep 4; n=0; until [ -f {0}/checkpoints ]; do n=$((n + 1)); mv -T {0}/checkpoints {0}/aside$n; "
      "touch {0}/checkpoints; done) "
      "2>/dev/null &",
      run);
  const auto start = std::chrono::steady_clock::now();
  const Outcome outcome = run_shell(fmt::format("{} timeout 60 {} {} --ranks 2 --sequence-parallel 2 --run-dir {}",
                                                make_unwritable, std::getenv("UT"), addition(1000000), run));
  EXPECT_EQ(outcome.exit_code, 1) << outcome.output;
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(30));
  EXPECT_THAT(outcome.errors,
              testing::MatchesRegex("ut: rank 0 on host [^\n]*, after update [0-9]+: [^\n]*checkpoints[^\n]*\n"));
}

TEST_F(Running, EvaluatesAndDecodesOnRanks) {
  const std::string run = directory_ / "run";
  ASSERT_EQ(run_ut(addition(3) + "--run-dir " + run).exit_code, 0);
  const std::string evaluate = "evaluate --json --run-dir " + run;
  const auto scores = [](const Outcome& outcome) { return outcome.output.substr(0, outcome.output.find("\"ranks\"")); };
  const Outcome one = run_ut(evaluate);
  ASSERT_EQ(one.exit_code, 0) << one.errors;
  EXPECT_THAT(one.output, HasSubstr("\"sequences\":40"));
  for (const std::string steps : {"", " --steps 5"}) {
    const Outcome expected = run_ut(evaluate + steps);
    ASSERT_EQ(expected.exit_code, 0) << expected.errors;
    for (const std::string ranks : {" --ranks 2 --sequence-parallel 2", " --ranks 3"})
      EXPECT_EQ(scores(run_ut(evaluate + steps + ranks)), scores(expected)) << ranks << steps;
  }

  const auto decode = [&](const std::string& ranks) {
    return run_shell(
        fmt::format("printf '12+7\\n3+4\\n999+1\\n' | {} decode --run-dir {} {}", std::getenv("UT"), run, ranks));
  };
  const Outcome decoded = decode("");
  EXPECT_EQ(decoded.exit_code, 0) << decoded.errors;
  EXPECT_EQ(std::ranges::count(decoded.output, '\n'), 3);
  EXPECT_EQ(decode("--ranks 2 --sequence-parallel 2").output, decoded.output);
  EXPECT_EQ(decode("--ranks 4 --sequence-parallel 2").output, decoded.output);

  const Outcome endless = run_shell(
      fmt::format("(echo 1+1; head -c 1000000 /dev/zero | tr '\\0' 1; echo +1) | timeout 60 {} decode --run-dir {}",
                  std::getenv("UT"), run));
  EXPECT_EQ(endless.exit_code, 2);
  EXPECT_EQ(endless.output, "");
  EXPECT_THAT(endless.errors,
              testing::MatchesRegex("ut: standard input, line 2: 10[0-9]+ symbols, needs at most 1000000 in a line\n"));
}

TEST_F(Running, ScoresTextBesideItsReferences) {
  const std::string right = directory_.write("right", "The cat sat on the mat.\nIt is 3.5 metres long.\n").string();
  const auto score = [&](const std::string& lines, const std::string& options) {
    return run_shell(fmt::format("printf '{}' | {} score {}", lines, std::getenv("UT"), options));
  };
  const std::string lines = "The cat sat on a mat.\\nit is 3.5 metres long.\\n";
  const Outcome one = score(lines, "--reference " + right);
  EXPECT_EQ(one.exit_code, 0) << one.errors;
  // As sacreBLEU 2.6.0 prints it.
  EXPECT_EQ(one.output,
            "BLEU|nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp|version:2.6.0 = 61.87 84.6/72.7/55.6/42.9 (BP = 1.000 "
            "ratio = 1.000 hyp_len = 13 ref_len = 13)\n");
  EXPECT_THAT(score(lines, "--lowercase --tokenize intl --reference " + right + " --reference " + right).output,
              testing::StartsWith("BLEU|nrefs:2|case:lc|eff:no|tok:intl|smooth:exp|version:2.6.0 = 73.24 "));
  const Outcome short_of_lines = score("The cat\\n", "--reference " + right);
  EXPECT_EQ(short_of_lines.exit_code, 2);
  EXPECT_EQ(short_of_lines.errors, "ut: " + right + ": 2 lines, but standard input has 1; needs a line for each\n");
}

TEST_F(Running, AnAnswerOutsideTheVocabularyIsWrongAndNoPartOfTheLoss) {
  std::string passages;
  for (int line = 0; line < 16; ++line) passages += "the cat sat\na dog ran\n";
  directory_.write("lambada/train.txt", passages);
  directory_.write("lambada/lambada_development_plain_text.txt", "the cat sat\na dog ran\nthe cat yawned\n");
  directory_.write("lambada/lambada_test_plain_text.txt", "the cat sat\na dog ran\nthe cat yawned\nsat the sat\n");
  const std::string run = directory_ / "run";
  const Outcome trained = run_ut(fmt::format(
      "train --task lambada --data {} --d-model 16 --heads 2 --ffn 32 --steps 2 --batch 8 --dropout 0 --schedule "
      "constant "
      "--learning-rate 0.01 --label-smoothing 0 --max-updates 100 --evaluate-every 0 --threads 1 --run-dir {}",
      directory_ / "lambada", run));
  ASSERT_EQ(trained.exit_code, 0) << trained.errors;
  for (const std::string ranks : {"", " --ranks 2 --sequence-parallel 2"}) {
    const auto scores = json_of_ut("evaluate --json --split validation --run-dir " + run + ranks);
    EXPECT_DOUBLE_EQ(scores.at("accuracy").get<double>(), 2.0 / 3);
    EXPECT_LT(scores.at("loss").get<double>(), 0.1);
  }
  const auto groups = json_of_ut("evaluate --json --run-dir " + run).at("groups");
  EXPECT_EQ(groups.at("target in context").at("sequences"), 1);
  EXPECT_EQ(groups.at("target not in context").at("sequences"), 3);
}

TEST_F(Running, SaysWhatItWasBuiltWithAndExplainsEveryCommand) {
  const Outcome version = run_ut("--version");
  EXPECT_EQ(version.exit_code, 0);
  for (const char* part : {"LibTorch", "MPI", "CUDA", "NCCL"}) EXPECT_THAT(version.output, HasSubstr(part));
  for (const std::string command : {"train", "evaluate", "decode", "score", "data"}) {
    EXPECT_THAT(run_ut("--help").output, HasSubstr(command));
    EXPECT_THAT(run_ut(command + " --help").output, HasSubstr("--"));
  }
}

}  // namespace
}  // namespace ut::tests
