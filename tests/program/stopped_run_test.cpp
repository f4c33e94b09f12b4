// Training that is asked to stop, runs out of time, or has a rank that fails.

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <string>

#include "base/file.h"
#include "tests/program/addition.h"
#include "tests/program/program.h"

namespace ut::tests {
namespace {

using testing::HasSubstr;

class StoppedRun : public testing::Test {
 protected:
  TemporaryDirectory directory_;
};

TEST_F(StoppedRun, DoesNothingWhenResumedAfterItsTimeIsOver) {
  const std::string run = directory_ / "run";
  const std::string options = addition(1000000, "--evaluate-every 0 --evaluation-examples 2") + "--max-hours 0.0003 ";
  const auto begin = std::chrono::steady_clock::now();
  ASSERT_EQ(run_ut(options + "--run-dir " + run).exit_code, 0);
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
  const double hours = records_of(run, "hours").back().at("hours").get<double>();
  EXPECT_GE(hours, 0.0003);
  EXPECT_LE(hours, took.count() / 3600);
  const std::string latest = base::read_file(run + "/checkpoints/latest");
  EXPECT_EQ(run_ut("train --resume --run-dir " + run).exit_code, 0);
  EXPECT_EQ(base::read_file(run + "/checkpoints/latest"), latest);
  const auto updates = static_cast<std::int64_t>(losses_of(run).size());
  ASSERT_EQ(run_ut("train --resume --max-hours 0 --max-updates {} --run-dir {}", updates + 2, run).exit_code, 0);
  EXPECT_GE(records_of(run, "hours").back().at("hours").get<double>(), hours) << "those before count, too";
}

TEST_F(StoppedRun, StopsOnRequestWithACheckpointAndGoesOn) {
  const std::string run = directory_ / "run";
  // The process that starts ranks gets the signal, as from a batch system or a person.
  const Outcome stopped = run_shell(
      "{} {} --ranks 2 --sequence-parallel 2 --run-dir {} & run=$!; n=0; until grep -sq "
      "'\"loss\"' {}/metrics.jsonl || [ $n -ge 600 ]; do sleep 0.1; n=$((n + 1)); done; "
      "kill -TERM $run; wait $run",
      std::getenv("UT"), addition(1000000), run, run);
  EXPECT_EQ(stopped.exit_code, 75) << stopped.output << stopped.errors;
  EXPECT_EQ(stopped.errors, "");
  EXPECT_THAT(stopped.output, HasSubstr("--resume"));
  const auto done = losses_of(run).size();
  ASSERT_GT(done, 0);
  const Outcome resumed = run_ut("train --resume --max-updates {} --run-dir {}", done + 3, run);
  EXPECT_EQ(resumed.exit_code, 0) << resumed.errors;
  EXPECT_EQ(losses_of(run).size(), done + 3);
}

/// As by a batch system when the time is over: mpirun and the ranks get the signal, too.
TEST_F(StoppedRun, StopsWhereEveryProcessIsAsked) {
  for (const std::string signal : {"TERM", "INT"}) {
    const std::string run = directory_ / signal;
    const Outcome stopped = run_shell(
        "{0} {1} --ranks 2 --sequence-parallel 2 --run-dir {2} & job=$!; n=0; until grep -sq '\"update\":3,' "
        "{2}/metrics.jsonl; do sleep 0.1; n=$((n + 1)); [ $n -lt 600 ] || exit 9; done; pkill -{3} -f -- '^({0}|[^ "
        "]*mpirun) .*[-]-run-dir {2}( |$)'; wait $job",
        std::getenv("UT"), addition(1000000), run, signal);
    EXPECT_EQ(stopped.exit_code, 75) << stopped.output << stopped.errors;
    EXPECT_EQ(stopped.errors, "");
    EXPECT_TRUE(std::filesystem::exists(run + "/checkpoints/latest")) << signal;
  }
}

TEST_F(StoppedRun, CtrlCTwiceAtOnceIsOneRequest) {
  const Outcome stopped = run_shell(
      "bash -c '(sleep 5; kill -INT $$; sleep 0.2; kill -INT $$) & exec $UT {} --ranks 2 --sequence-parallel 1 "
      "--run-dir {}'",
      addition(1000000), directory_ / "run");
  EXPECT_EQ(stopped.exit_code, 75) << stopped.output << stopped.errors;
  EXPECT_EQ(stopped.errors, "");
}

TEST_F(StoppedRun, ASecondCtrlCEndsALongUpdate) {
  for (const std::string ranks : {"1", "2 --sequence-parallel 1"}) {
    const std::string run = directory_ / ("run-" + ranks.substr(0, 1));
    const Outcome stopped = run_shell(
        "timeout -s KILL 120 bash -c '(until [ -s {2}/metrics.jsonl ]; do sleep 0.1; done; sleep 1; kill -INT $$; "
        "sleep 2; kill -INT $$) & exec $UT {0} --ranks {1} --run-dir {2}'",
        addition(5, "--evaluate-every 0", "--batch 8 --accumulate 20000"), ranks, run);
    EXPECT_EQ(stopped.exit_code, 1) << stopped.output << stopped.errors;
    EXPECT_EQ(stopped.errors, "ut: stopped before it could finish\n");
  }
}

/// The training text takes some seconds to read.
TEST_F(StoppedRun, CtrlCEndsReadingTheData) {
  for (const char* split : {"development", "test"})
    directory_.write(fmt::format("data/lambada_{}_plain_text.txt", split), "the owl saw the cat\n");
  const Outcome stopped = run_shell(
      "cd {}; yes 'the owl and the cat saw the dog' | head -c 250M >data/train.txt; timeout -s KILL 60 bash -c "
      "'(sleep 1; kill -INT $$) & exec $UT train --task lambada --data data --ranks 2 --run-dir run'",
      directory_.path().string());
  EXPECT_EQ(stopped.exit_code, 128 + SIGINT) << stopped.errors;
  EXPECT_FALSE(std::filesystem::exists(directory_ / "run"));
}

TEST_F(StoppedRun, CanBeStoppedWhileLibrariesAreLoaded) {
  // SIGUSR1 is blocked from the first moment on, long before main(), since a job's warning may come then. If the
  // program starts the ranks, neither they nor mpirun exist yet.
  for (const std::string ranks : {"1", "2", "2 --evaluate-every 1"}) {  // the last one prints all the time
    const std::string run = directory_ / ("run-" + ranks);
    const Outcome stopped = run_shell(
        "{} {} --ranks {} --run-dir '{}' & run=$!; n=0; until grep -q '^SigBlk:.*[2367abef]..$' /proc/$run/status; do "
        "n=$((n + 1)); [ $n -lt 1000 ] || exit 9; done; kill -USR1 $run; wait $run",
        std::getenv("UT"), addition(5000), ranks, run);
    EXPECT_EQ(stopped.exit_code, 75) << ranks << stopped.output << stopped.errors;
    const bool has_begun = std::filesystem::exists(run + "/checkpoints/latest");
    EXPECT_EQ(stopped.errors,
              has_begun ? "" : "ut: stopped on request before training began; give the same command again to train\n");
    if (ranks != "1") continue;
    ASSERT_TRUE(has_begun) << "there is nothing to wait for";
    EXPECT_EQ(base::read_file(run + "/checkpoints/latest"), "update-00000000\n");
    EXPECT_EQ(run_ut("train --resume --max-updates 2 --run-dir " + run).exit_code, 0);
    EXPECT_EQ(losses_of(run).size(), 2);
  }
}

TEST_F(StoppedRun, NamesTheSignalThatEndedAStoppingRank) {
  const std::string run = directory_ / "run";
  const std::string long_updates = "--batch 400 --d-model 64 --ffn 512 --steps 6 --evaluate-every 0";
  const Outcome outcome = run_shell(
      "$UT {} --ranks 2 --run-dir {} & run=$!; until grep -q '\"loss\"' {}/metrics.jsonl; do sleep 0.1; done; read "
      "mpirun </proc/$run/task/$run/children; set $(cat /proc/$mpirun/task/*/children); kill -USR1 $run; kill -KILL "
      "$1; wait $run",
      addition(1000000, "", long_updates), run, run);
  EXPECT_EQ(outcome.exit_code, 1) << outcome.output;
  EXPECT_THAT(outcome.errors,
              testing::ContainsRegex("ut: rank 0 on host [^\n]*, after update [0-9]+: ended by signal 9 "));
}

TEST_F(StoppedRun, ARankThatFailsEndsTheJobWithOneMessage) {
  const std::string run = directory_ / "run";
  // Rank 0 cannot write its checkpoint, while rank 1 waits for it in the next update's all-reduce.
  const std::string make_unwritable = fmt::format(
      "(n=0; until grep -q '\"update\":10,' {0}/metrics.jsonl || [ $n -ge 300 ]; do sleep 0.1; n=$((n + 1)); done; "
      "n=0; until [ -f {0}/checkpoints ]; do "
      "n=$((n + 1)); mv -T {0}/checkpoints {0}/aside$n; "
      "touch {0}/checkpoints; done) "
      "2>/dev/null &",
      run);
  const auto start = std::chrono::steady_clock::now();
  const Outcome outcome = run_shell("{} timeout 60 {} {} --ranks 2 --sequence-parallel 2 --run-dir {}", make_unwritable,
                                    std::getenv("UT"), addition(1000000), run);
  EXPECT_EQ(outcome.exit_code, 1) << outcome.output;
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(30));
  EXPECT_THAT(outcome.errors,
              testing::MatchesRegex("ut: rank 0 on host [^\n]*, after update [0-9]+: [^\n]*checkpoints[^\n]*\n"));
}

}  // namespace
}  // namespace ut::tests
