// If a rank fails, the whole job ends within seconds, with one line that says which rank, where, when and why. The
// run's checkpoints are whole, and it resumes from them to the same end.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <cmath>
#include <filesystem>
#include <memory>

#include "tests/faults/faults.h"

namespace ut::tests {
namespace {

using testing::MatchesRegex;

constexpr std::int64_t all_updates = 40;

struct Case {
  std::string kind;
  int ranks;
  std::string says;     // the message after `ut: rank N on host H, `
  int faulty_rank = 1;  // gets the fault
  int named_rank = 1;   // is named by the message
  int check_ranks = 1000;
};

// NOLINTNEXTLINE(readability-identifier-naming): GoogleTest's
void PrintTo(const Case& tried, std::ostream* out) { *out << tried.ranks << " ranks: " << tried.kind; }

std::vector<Case> cases() {
  const std::string gradients = "after update 23: the gradient of [a-z0-9_.]+ is not finite \\(--on-nonfinite stop\\)";
  std::vector<Case> all;
  for (const int ranks : {2, 4}) {
    all.push_back({"throw", ranks, "after update 22: a fault that a test has put here"});
    all.push_back({"memory", ranks, "after update 22: [^\n]*(memory|allocate)[^\n]*"});
    all.push_back({"segfault", ranks, "after update 22: ended by signal 11 \\(Segmentation fault\\)"});
    all.push_back({"kill", ranks, "after update 22: ended by signal 9 \\(Killed\\): out of memory\\?"});
    all.push_back({"nan", ranks, gradients});
    all.push_back({"infinity", ranks, gradients});
    all.push_back({"large", ranks,
                   "after update 23: the norm of the gradients is not finite, though each rank's part of the sum is "
                   "\\(--on-nonfinite stop\\)",
                   1, 0});
    const std::string others =
        ranks > 2 ? "the other ranks" : "rank 0 on host [^\n]+ which of the two is right is unknown";
    for (const int rank : {0, 1})
      all.push_back({"flip", ranks, fmt::format("after update 25: its [^\n]+ has other bits than on {}[^\n]*", others),
                     rank, ranks > 2 ? rank : 1});
    all.push_back(
        {"flip", ranks, fmt::format("after update 24: its [^\n]+ has other bits than on {}[^\n]*", others), 1, 1, 4});
    all.push_back(
        {"stop", ranks,
         "after update 2[12]: waited 1[0-9] s for the other ranks in MPI_[A-Za-z_, ]+ \\(--timeout\\): late: rank "
         "1 on host [^\n ]+ \\(still at work, hanging or out of reach\\)"});
  }
  if (!tries_all_faults())
    std::erase_if(all, [](const Case& tried) { return tried.ranks == 4 && tried.kind != "kill"; });
  return all;
}

class Rank : public testing::TestWithParam<Case> {
 protected:
  static void SetUpTestSuite() { whole_runs = std::make_unique<TemporaryDirectory>(); }
  static void TearDownTestSuite() { whole_runs.reset(); }

  /// The run without a fault; all cases of so many ranks share it.
  static std::string whole_run(const std::string& mesh, int ranks) {
    std::string run = *whole_runs / std::to_string(ranks);
    if (!std::filesystem::exists(run)) {
      EXPECT_EQ(run_ut(small_training(all_updates) + mesh + "--run-dir " + run).exit_code, 0);
    }
    return run;
  }

  TemporaryDirectory directory_;

 private:
  static inline std::unique_ptr<TemporaryDirectory> whole_runs;
};

TEST_P(Rank, EndsTheJobInSecondsIfItFails) {
  const Case& tried = GetParam();
  const bool hangs = tried.kind == "stop";
  const std::string mesh = fmt::format("--ranks {} --sequence-parallel 2 --exchange broadcast ", tried.ranks);
  const std::string whole = whole_run(mesh, tried.ranks);
  FaultTally tally;
  const std::string run = directory_ / "run";
  const FaultyRun faulty = run_with_fault(fmt::format("{}:{}:23", tried.kind, tried.faulty_rank),
                                          // Ranks are also compared before each checkpoint.
                                          fmt::format("{}{}--quiet --on-nonfinite stop --check-ranks {} --timeout 10 ",
                                                      small_training(all_updates), mesh, tried.check_ranks),
                                          run, std::chrono::seconds(hangs ? 30 : 20));
  EXPECT_EQ(faulty.outcome.exit_code, 1);
  // A hanging rank is reported by another one.
  EXPECT_THAT(faulty.outcome.errors,
              MatchesRegex(fmt::format("ut: rank {} on host [^\n ]+, {}\n",
                                       hangs ? "[0-9]" : std::to_string(tried.named_rank), tried.says)));
  const std::int64_t kept = expect_whole_checkpoints(run);
  EXPECT_EQ(kept, 20) << "a checkpoint every fifth update";
  tally.tried(22 - kept, faulty.seconds);
  resume(run, all_updates);
  expect_equal_losses(losses_of(whole), losses_of(run), 0);
  expect_equal_parameters(whole, run, 0);
}

INSTANTIATE_TEST_SUITE_P(, Rank, testing::ValuesIn(cases()), [](const auto& test) {
  return fmt::format("{}_of_{}_on_{}_checked_{}", test.param.kind, test.param.ranks, test.param.faulty_rank,
                     test.param.check_ranks);
});

class Updates : public testing::Test {
 protected:
  TemporaryDirectory directory_;
};

TEST_F(Updates, AreLeftOutIfGradientsAreNotFinite) {
  const std::string run = directory_ / "run";
  FaultTally tally;
  const FaultyRun faulty = run_with_fault(
      "nan:1:12", small_training(30) + "--ranks 2 --sequence-parallel 2 --exchange broadcast --keep-checkpoints 9 ",
      run, std::chrono::seconds(30));
  tally.tried(1, faulty.seconds);
  EXPECT_EQ(faulty.outcome.exit_code, 0) << faulty.outcome.errors;
  EXPECT_THAT(faulty.outcome.output, testing::HasSubstr("is not finite, from rank 1 on host "));
  EXPECT_THAT(faulty.outcome.output, testing::HasSubstr("the update is left out, 1 of at most 10 in a row"));
  const std::vector<double> losses = losses_of(run);
  ASSERT_EQ(losses.size(), 30);
  for (const double loss : losses) EXPECT_TRUE(std::isfinite(loss));
  for (const int update : {5, 10, 15, 20, 25, 30})
    EXPECT_TRUE(std::filesystem::exists(fmt::format("{}/checkpoints/update-{:08}", run, update))) << update;
}

TEST_F(Updates, EndAtAHangUpThoughALibraryHandlesIt) {
  const std::string run = directory_ / "run";
  FaultTally tally;
  const Outcome ended = run_shell(
      "UT_FAULT=handlers:-1:0 LD_PRELOAD=$UT_INJECT $UT {0} --run-dir {1} & run=$!; (sleep 30; kill -KILL $run) & "
      "late=$!; "
      "until grep -sq '\"loss\"' {1}/metrics.jsonl; do sleep 0.1; done; kill -HUP $run; wait $run; code=$?; "
      "kill $late; exit $code",
      small_training(1'000'000), run);
  tally.tried(0, 0);
  EXPECT_EQ(ended.exit_code, 128 + SIGHUP) << ended.errors;
}

TEST_F(Updates, DoNotBeginIfTheDataOfARankIsWrong) {
  const std::string good = "1 Mary moved to the hall.\n2 Where is Mary?\thall\t1\n";
  for (const std::string rank : {"0", "1"})
    for (const std::string file : {"qa1_train.txt", "qa1_valid.txt", "qa1_test.txt"})
      directory_.write(fmt::format("data{}/{}", rank, file), good);
  FaultTally tally;
  const auto refused = [&](const std::string& text) {
    directory_.write("data1/qa1_train.txt", text);
    const std::string run = directory_ / "run";
    const std::string command = fmt::format(
        "{} train --task babi --d-model 8 --heads 2 --ffn 8 --steps 1 --batch 1 --max-updates 2 "
        "--sequence-parallel 2 --run-dir {} --data {}/data",
        std::getenv("UT"), run, directory_.path().string());
    const auto begin = std::chrono::steady_clock::now();
    const Outcome outcome = run_shell(
        "OMP_NUM_THREADS=1 mpirun --quiet --allow-run-as-root --oversubscribe --bind-to none -n 1 {0}0 : -n 1 {0}1",
        command);
    tally.tried(0, std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
    EXPECT_EQ(outcome.exit_code, 2);
    EXPECT_FALSE(std::filesystem::exists(run)) << "something was written";
    return outcome.errors;
  };
  EXPECT_THAT(
      refused("1 Mary moved to the hall.\n2 Where is Mary?\n"),
      MatchesRegex("ut: rank 1 on host [^ \n]+: [^\n]*data1/qa1_train.txt:2: a question without a tab[^\n]*\n"));
  EXPECT_THAT(refused("1 Mary moved to the hall.\n2 Where is Mary?\tgarden\t1\n"),
              MatchesRegex("ut: --data: rank 1 on host [^\n ]+ has other data than the other ranks[^\n]*\n"));
}

}  // namespace
}  // namespace ut::tests
