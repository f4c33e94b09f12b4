// Resumed training, on the same mesh and on others.

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "base/file.h"
#include "tests/program/addition.h"
#include "tests/program/passages.h"
#include "tests/program/program.h"
#include "tests/program/refused.h"

namespace ut::tests {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

class ResumedRun : public testing::Test {
 protected:
  TemporaryDirectory directory_;
};

TEST_F(ResumedRun, HasTheSameCurveOnTheSameAndOnAnotherMesh) {
  for (const std::string batch : {"--batch 8", "--batch-rows 60 --batch-window 20"}) {
    const auto training = [&batch](int updates) {
      return addition(updates, "--evaluate-every 10 --evaluation-examples 40 --random-offset 50", batch);
    };
    const std::string whole = directory_ / "whole";
    std::filesystem::remove_all(whole);
    ASSERT_EQ(run_ut(training(30) + "--run-dir " + whole).exit_code, 0);
    const std::string half = directory_ / "half";
    std::filesystem::remove_all(half);
    ASSERT_EQ(run_ut(training(15) + "--run-dir " + half).exit_code, 0);
    for (const std::string ranks : {"", "--ranks 2 --sequence-parallel 2", "--ranks 3 --sequence-parallel 1"}) {
      SCOPED_TRACE(batch + ranks);
      const std::string run = directory_ / "parts";
      std::filesystem::remove_all(run);
      std::filesystem::copy(half, run, std::filesystem::copy_options::recursive);
      const Outcome resumed = run_ut("train --resume --max-updates 30 --run-dir " + run + " " + ranks);
      ASSERT_EQ(resumed.exit_code, 0) << resumed.errors;
      expect_equal_losses(losses_of(whole), losses_of(run), ranks.empty() ? 1e-15 : 1e-9);
      expect_equal_parameters(whole, run, ranks.empty() ? 0 : 1e-9);
    }
  }
}

/// A rank that has only the states, not the tensors, goes on as one that has both: only the first reads them.
TEST_F(ResumedRun, IsReadByOneRank) {
  ASSERT_EQ(run_ut(addition(20) + "--run-dir " + (directory_ / "whole")).exit_code, 0);
  ASSERT_EQ(run_ut(addition(10) + "--run-dir " + (directory_ / "0")).exit_code, 0);
  const Outcome resumed = run_shell(
      "cd {}; cp -r 0 1; rm 1/checkpoints/*/*.safetensors; ut=\"$UT train --resume --max-updates 20 --run-dir\"; "
      "mpirun --allow-run-as-root --oversubscribe --bind-to none -n 1 $ut 0 --sequence-parallel 2 : -n 1 $ut 1 "
      "--sequence-parallel 2",
      directory_.path().string());
  ASSERT_EQ(resumed.exit_code, 0) << resumed.errors;
  EXPECT_THAT(resumed.output, HasSubstr("2 ranks,"));
  expect_equal_losses(losses_of(directory_ / "whole"), losses_of(directory_ / "0"), 1e-9);
}

/// Updates left out in a row are counted across a stop.
TEST_F(ResumedRun, CountsLeftOutUpdatesAcrossAStop) {
  const std::string run = directory_ / "run";
  std::string training = addition(20, "--evaluate-every 0 --evaluation-examples 4") + "--run-dir " + run;
  training.replace(training.find("float64"), 7, "float32");
  ASSERT_EQ(run_ut(training).exit_code, 0);
  const auto left_out = [&run](const std::string& update) {
    return nlohmann::json::parse(base::read_file(run + "/checkpoints/update-000000" + update + "/state.json"))
        .at("left_out_in_a_row")
        .get<std::int64_t>();
  };
  EXPECT_EQ(left_out("20"), 0);
  const Outcome begun = run_ut("train --resume --learning-rate 1e15 --max-updates 24 --run-dir " + run);
  ASSERT_EQ(begun.exit_code, 0) << begun.errors;
  const std::int64_t before = left_out("24");
  ASSERT_GT(before, 0);
  const Outcome ended = run_ut("train --resume --max-updates 60 --run-dir " + run);
  EXPECT_EQ(ended.exit_code, 1);
  EXPECT_THAT(ended.errors, HasSubstr(fmt::format("after update {}: ", 24 + 10 - before)));
}

/// A rate far too large spoils the parameters in an update whose own loss and gradients are still finite.
TEST_F(ResumedRun, GoesOnFromBeforeItWasSpoilt) {
  const std::string run = directory_ / "run";
  const std::string resume = "train --resume --max-updates 60 --run-dir " + run;
  std::string training = addition(20, "--evaluate-every 0 --evaluation-examples 4") + "--run-dir " + run;
  training.replace(training.find("float64"), 7, "float32");
  ASSERT_EQ(run_ut(training).exit_code, 0);
  const Outcome spoilt = run_ut(resume + " --learning-rate 1e15");
  EXPECT_EQ(spoilt.exit_code, 1);
  EXPECT_THAT(spoilt.errors,
              HasSubstr("after 10 such updates in a row were left out (--nonfinite-limit); --resume goes on from the "
                        "newest checkpoint, if there is one; with --checkpoint best or update-N, from that one"));
  EXPECT_TRUE(std::filesystem::exists(run + "/checkpoints/update-00000010"));
  EXPECT_FALSE(std::filesystem::exists(run + "/checkpoints/update-00000030"));
  const Outcome gone_on = run_ut(resume + " --checkpoint update-10 --learning-rate 0.003");
  EXPECT_EQ(gone_on.exit_code, 0) << gone_on.errors;
  EXPECT_EQ(losses_of(run).size(), 60);
}

/// Neither an evaluation nor the end of the run replaces a good model by a spoilt one.
TEST_F(ResumedRun, KeepsWhatItHadBeforeItWasSpoilt) {
  const std::string run = directory_ / "run";
  std::string training = addition(8, "--evaluate-every 1 --evaluation-examples 4") + "--keep-checkpoints 1 ";
  training.replace(training.find("float64"), 7, "float32");
  training.replace(training.find("--checkpoint-every 10"), 21, "--checkpoint-every 1");
  training.replace(training.find("0.003"), 5, "1e15");
  const Outcome spoilt = run_ut(training + "--run-dir " + run);
  EXPECT_EQ(spoilt.exit_code, 1);
  EXPECT_THAT(spoilt.errors, HasSubstr("after update 8: the validation loss is not finite, so there is no model"));
  EXPECT_THAT(spoilt.output, testing::Not(HasSubstr("best so far")));
  EXPECT_FALSE(std::filesystem::exists(run + "/checkpoints/best"));
  EXPECT_TRUE(std::filesystem::exists(run + "/checkpoints/update-00000001")) << "the last one without a fault";
}

TEST_F(ResumedRun, KeepsItsScoresIfItsCheckpointsAreLost) {
  const std::string run = directory_ / "run";
  ASSERT_EQ(run_ut(addition(4) + "--run-dir " + run).exit_code, 0);
  const std::string records = base::read_file(run + "/metrics.jsonl");
  std::filesystem::remove_all(run + "/checkpoints");
  for (const std::string& begun : {addition(2), std::string("train --resume ")}) {
    expect_refused(run_ut(begun + "--run-dir " + run),
                   HasSubstr("has the scores of a run, but its checkpoints are gone; remove the directory, or use"));
    EXPECT_EQ(base::read_file(run + "/metrics.jsonl"), records);
  }
  // As if a kill came between the first score and its checkpoint.
  directory_.write("run/metrics.jsonl", records.substr(0, records.find('\n', records.find("\"split\"")) + 1));
  EXPECT_EQ(run_ut(addition(2) + "--run-dir " + run).exit_code, 0);
}

TEST_F(ResumedRun, GoesOnOnANumberOfRanksThatItsMeshDoesNotFit) {
  const std::string run = directory_ / "run";
  ASSERT_EQ(run_ut(addition(2) + "--ranks 3 --sequence-parallel 3 --run-dir " + run).exit_code, 0);
  const Outcome resumed = run_ut("train --resume --ranks 2 --max-updates 4 --run-dir " + run);
  EXPECT_EQ(resumed.exit_code, 0) << resumed.errors;
}

TEST_F(ResumedRun, KeepsItsMeshAfterGoingOnWithOneRank) {
  const std::string run = directory_ / "run";
  const auto on = [&](int ranks, int updates) {
    const Outcome resumed = run_ut("train --resume --ranks {} --max-updates {} --run-dir {}", ranks, updates, run);
    EXPECT_EQ(resumed.exit_code, 0) << resumed.errors;
    return resumed.output;
  };
  ASSERT_EQ(run_ut(addition(2) + "--ranks 1 --run-dir " + run).exit_code, 0);
  EXPECT_THAT(on(2, 4), HasSubstr("mesh that ut plan chooses"));
  ASSERT_EQ(run_ut("train --resume --ranks 2 --sequence-parallel 2 --max-updates 6 --run-dir " + run).exit_code, 0);
  on(1, 8);
  EXPECT_THAT(on(2, 10), Not(HasSubstr("mesh that ut plan chooses")));
  EXPECT_THAT(base::read_file(run + "/options.conf"), HasSubstr("sequence-parallel = 2\n"));
}

TEST_F(ResumedRun, IsRefusedWhereARankSeesAnotherCheckpoint) {
  const std::string run = directory_ / "run";
  const std::string late = directory_ / "late";
  ASSERT_EQ(run_ut(addition(2) + "--run-dir " + run).exit_code, 0);
  std::filesystem::copy(run, late, std::filesystem::copy_options::recursive);
  ASSERT_EQ(run_ut("train --resume --max-updates 3 --run-dir " + run).exit_code, 0);
  const std::string rank = "-n 1 $UT train --resume --max-updates 4 --sequence-parallel 1 --timeout 10 --run-dir ";
  const Outcome outcome =
      run_shell("timeout 60 mpirun --quiet --allow-run-as-root --oversubscribe {}{} : {}{}", rank, run, rank, late);
  expect_refused(outcome, testing::StartsWith("ut: --run-dir " + run + ": rank 1 on host "));
  EXPECT_THAT(outcome.errors, HasSubstr("sees another checkpoint than the other ranks"));

  // Another checkpoint of the same name.
  ASSERT_EQ(run_ut("train --resume --learning-rate 0.1 --max-updates 3 --run-dir " + late).exit_code, 0);
  const std::string evaluation = "-n 1 $UT evaluate --checkpoint latest --sequence-parallel 1 --timeout 10 --run-dir ";
  const Outcome scored = run_shell("timeout 60 mpirun --quiet --allow-run-as-root --oversubscribe {}{} : {}{}",
                                   evaluation, run, evaluation, late);
  expect_refused(scored, HasSubstr("rank 1 on host "));
  EXPECT_THAT(scored.errors, HasSubstr("was given --learning-rate 0.1, rank 0 --learning-rate 0.003; give all ranks"));
}

/// Because a settings file differs between hosts, say.
TEST_F(ResumedRun, IsRefusedWhereRanksHaveOtherOptions) {
  const std::string run = directory_ / "run";
  const std::string rank = "-n 1 $UT " + addition(2) + "--timeout 10 --sequence-parallel 1 --run-dir " + run;
  for (const std::string other : {"--dropout 0.5", "--ffn 64", "--seed 7", "--check-ranks 5"}) {
    const Outcome outcome =
        run_shell("timeout 60 mpirun --quiet --allow-run-as-root --oversubscribe {} : {} {}", rank, rank, other);
    EXPECT_EQ(outcome.exit_code, 2) << outcome.errors;
    EXPECT_THAT(outcome.errors, testing::StartsWith("ut: rank 1 on host "));
    EXPECT_THAT(outcome.errors, HasSubstr("was given " + other + ", rank 0 --"));
    EXPECT_FALSE(std::filesystem::exists(run));
  }
}

/// The other ranks wait in MPI, which this rank has not reached.
TEST_F(ResumedRun, IsRefusedWhereOneRankAloneDoesNotSeeTheRun) {
  for (const char* place : {"here", "there"}) std::filesystem::create_directory(directory_.path() / place);
  ASSERT_EQ(run_ut(addition(2) + "--run-dir " + (directory_ / "here/run")).exit_code, 0);
  for (const std::string command : {"evaluate --run-dir run", "train --resume --max-updates 4 --run-dir run"}) {
    const auto rank = [&](const char* place) {
      return fmt::format("-wdir {} -n 1 $UT {} --sequence-parallel 1 --timeout 10", directory_ / place, command);
    };
    const Outcome outcome = run_shell("timeout 60 mpirun --quiet --allow-run-as-root --oversubscribe " + rank("here") +
                                      " : " + rank("there"));
    expect_refused(outcome, testing::StartsWith("ut: rank 1 on host "));
    EXPECT_THAT(outcome.errors, HasSubstr(": --run-dir run: there is no run (no options.conf)"));
  }
  std::ofstream(directory_ / "here/settings") << "ranks = 2\n";
  std::ofstream(directory_ / "there/settings") << "ranks = 4\n";
  const auto rank = [&](const char* place) {
    return fmt::format("-wdir {} -n 1 $UT {} --config settings --run-dir new", directory_ / place, addition(2));
  };
  expect_refused(run_shell("timeout 60 mpirun --quiet --allow-run-as-root --oversubscribe " + rank("here") + " : " +
                           rank("there")),
                 AllOf(testing::StartsWith("ut: rank 1 on host "), HasSubstr("--ranks: 4 given")));
}

TEST_F(ResumedRun, SaysThatItIsDoneAndIsTestedOnce) {
  const std::string run = directory_ / "run";
  ASSERT_EQ(run_ut(addition(4) + "--run-dir " + run).exit_code, 0);
  const std::string metrics = base::read_file(run + "/metrics.jsonl");
  const Outcome again = run_ut("train --resume --run-dir " + run);
  EXPECT_THAT(again.output,
              HasSubstr("nothing is left to train after update 4; to go on, give --max-updates above 4\n"));
  EXPECT_EQ(base::read_file(run + "/metrics.jsonl"), metrics);
  EXPECT_EQ(run_ut("train --resume --ranks 2 --sequence-parallel 2 --run-dir " + run).exit_code, 0);
  EXPECT_EQ(base::read_file(run + "/metrics.jsonl"), metrics);
  expect_refused(run_ut("train --resume --max-updates 3 --run-dir " + run),
                 HasSubstr("--max-updates 3: the run is at update 4"));
}

TEST_F(ResumedRun, SaysThatTheDataHasOtherExamples) {
  const std::string run = directory_ / "run";
  const auto passages = [this](int count, const std::string& passage = "one two three\n") {
    std::string text;
    for (int number = 0; number < count; ++number) text += passage;
    write_passages(directory_, text);
  };
  passages(20);
  ASSERT_EQ(run_ut("train --task lambada --lambada-form language-model --data {} --d-model 8 --heads 2 --ffn 8 --steps "
                   "1 --batch 4 --max-updates 2 --evaluation-limit 4 --run-dir {}",
                   directory_.path().string(), run)
                .exit_code,
            0);
  passages(25);
  EXPECT_THAT(run_ut("train --resume --max-updates 3 --run-dir " + run).output,
              HasSubstr("the data has changed: 20 training examples so far, 25 from now on\n"));
  passages(25, "three one two\n");
  EXPECT_THAT(run_ut("train --resume --max-updates 4 --run-dir " + run).output,
              HasSubstr("the data has changed: the training examples are others than so far\n"));
}

TEST_F(ResumedRun, SaysWhichRateALongerCosineHas) {
  const std::string run = directory_ / "run";
  ASSERT_EQ(run_ut(addition(30) + "--schedule cosine --run-dir " + run).exit_code, 0);
  EXPECT_THAT(run_ut("train --resume --max-updates 40 --run-dir " + run).output,
              testing::ContainsRegex("the learning rate is 0\\.000[0-9]+ from here on, not (0|[0-9.]+e-[0-9]+)\n"));
}

TEST_F(ResumedRun, SaysWhatChangesAndWhatIsDroppedWhenItGoesOn) {
  const std::string run = directory_ / "run";
  const std::string resume = "train --resume --run-dir " + run;
  ASSERT_EQ(run_ut(addition(30) + "--schedule cosine --keep-checkpoints 5 --run-dir " + run).exit_code, 0);
  const std::string metrics = base::read_file(run + "/metrics.jsonl");
  const Outcome refused = run_ut(resume + " --checkpoint update-10 --max-updates 10");
  EXPECT_EQ(refused.exit_code, 2);
  EXPECT_EQ(refused.errors,
            "ut: --checkpoint update-10: what came after it would be dropped, and nothing is left to train after "
            "update 10; to go on, give --max-updates above 10\n");
  EXPECT_EQ(base::read_file(run + "/metrics.jsonl"), metrics);

  const Outcome longer = run_ut(resume + " --max-updates 40 --learning-rate 0.006 --log-every 2 --threads 1");
  EXPECT_THAT(longer.output,
              HasSubstr("goes on with --learning-rate 0.006 (0.003 so far), --max-updates 40 (30 so far), "
                        "--log-every 2 (1 so far)\nthe learning rate is "));
  EXPECT_THAT(longer.output, Not(HasSubstr("are dropped")));
  ASSERT_EQ(run_ut("evaluate --checkpoint update-20 --run-dir " + run).exit_code, 0);
  const std::string kept = base::read_file(run + "/evaluations.jsonl");
  ASSERT_EQ(run_ut("evaluate --average 2 --run-dir " + run).exit_code, 0);
  const Outcome earlier = run_ut(resume + " --checkpoint update-20");
  EXPECT_EQ(base::read_file(run + "/evaluations.jsonl"), kept) << "none of what was dropped";
  EXPECT_THAT(earlier.output, HasSubstr("goes on after update 20: the records of later updates, up to 40, are dropped, "
                                        "and so are their checkpoints\n"));
  EXPECT_THAT(run_ut(resume).output, AllOf(Not(HasSubstr("goes on with")), Not(HasSubstr("are dropped"))));
}

}  // namespace
}  // namespace ut::tests
