// Checkpoints are whole or absent, whenever the run is killed and whatever happens to the disk. A damaged one is never
// loaded.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <algorithm>
#include <regex>
#include <vector>

#include "base/digest.h"
#include "base/file.h"
#include "core/checkpoint.h"
#include "core/checkpoint_directory.h"
#include "tests/faults/faults.h"

namespace ut::tests {
namespace {

using testing::HasSubstr;
using testing::MatchesRegex;

class Checkpoints : public testing::Test {
 protected:
  TemporaryDirectory directory_;
  std::string run_ = directory_ / "run";
};

/// A pattern for pgrep and pkill: the `ut` processes of a run (its ranks and what starts them), and mpirun if `all`.
std::string processes_of(const std::string& run, bool all) {
  return fmt::format("'^({}{}) .*[-]-run-dir {}( |$)'", std::getenv("UT"), all ? "|[^ ]*mpirun" : "", run);
}

/// Starts or resumes the run and kills it after this time: all of its processes, or one rank.
void run_and_kill(const std::string& run, const std::string& mesh, std::chrono::milliseconds after, bool all) {
  const bool begun = std::filesystem::exists(run + "/checkpoints/latest");
  const std::string command = begun ? fmt::format("train --resume --run-dir {}", run)
                                    : fmt::format("{} {} --run-dir {}", small_training(1'000'000), mesh, run);
  const std::string victims = fmt::format("pgrep -f -- {}{}", processes_of(run, all), all ? "" : " | tail -n 1");
  run_shell("timeout -s KILL 60 {} {} --quiet & job=$!; sleep {}; {} | xargs -r kill -KILL; wait $job",
            std::getenv("UT"), command, static_cast<double>(after.count()) / 1000, victims);
}

TEST_F(Checkpoints, AreWholeIfTheRunIsKilledAtRandomMoments) {
  const std::string mesh = "--ranks 2 --sequence-parallel 2";
  const int kills = tries_all_faults() ? 200 : 4;
  const auto begin = std::chrono::steady_clock::now();
  ASSERT_EQ(run_ut(small_training(5) + mesh + " --run-dir " + run_ + "-first").exit_code, 0);
  const auto start = std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now() - begin);
  FaultTally tally;
  for (int kill = 0, of_a_run = 0; of_a_run < kills; ++kill) {
    ASSERT_LT(kill, 10 * kills) << "it does not begin";
    run_and_kill(run_, mesh, start * (600 + kill * 7919 % 1600) / 1000, kill % 2 == 0);
    if (!std::filesystem::exists(run_ + "/checkpoints")) continue;  // it was killed before it began
    ++of_a_run;
    const std::int64_t kept = expect_whole_checkpoints(run_);
    const auto done = static_cast<std::int64_t>(losses_of(run_).size());
    EXPECT_LE(done - kept, 6) << "checkpoints come at every fifth update";
    tally.tried(done - kept, 0);
  }
  const std::int64_t kept = expect_whole_checkpoints(run_);
  ASSERT_GT(kept, kills) << "it got on between the kills";
  resume(run_, kept + 3);
  const std::string whole = run_ + "-whole";
  ASSERT_EQ(run_ut(small_training(kept + 3) + mesh + " --run-dir " + whole).exit_code, 0);
  expect_equal_losses(losses_of(whole), losses_of(run_), 0);
  expect_equal_parameters(whole, run_, 0);
}

TEST_F(Checkpoints, AreWholeIfTheRunIsKilledBeforeAnyOperationOnThem) {
  const std::string whole = run_ + "-whole";
  ASSERT_EQ(run_ut(small_training(30) + "--run-dir " + whole).exit_code, 0);
  const int step = tries_all_faults() ? 1 : 19;
  FaultTally tally;
  int operation = 1;
  for (;; operation += step) {
    std::filesystem::remove_all(run_);
    const FaultyRun faulty =
        run_with_fault(fmt::format("kill-at:-1:{}", operation), small_training(22), run_, std::chrono::seconds(30));
    if (faulty.outcome.exit_code == 0) break;  // the run has fewer operations
    ASSERT_EQ(faulty.outcome.exit_code, 128 + 9);
    const std::int64_t kept = expect_whole_checkpoints(run_);
    tally.tried(static_cast<std::int64_t>(losses_of(run_).size()) - kept, faulty.seconds);
    if (kept > 0)
      resume(run_, 30);
    else
      ASSERT_EQ(run_ut(small_training(30) + "--run-dir " + run_).exit_code, 0);
    expect_equal_losses(losses_of(whole), losses_of(run_), 0);
    expect_equal_parameters(whole, run_, 0);
    for (const auto& entry : std::filesystem::directory_iterator(run_ + "/checkpoints"))
      EXPECT_NE(entry.path().extension(), ".tmp") << "what a kill has left is cleared away";
  }
  EXPECT_GT(operation, 3 * 19) << "no fault was put in";
}

TEST_F(Checkpoints, EndTheRunIfTheyCannotBeWrittenAndLeaveTheEarlierOnes) {
  FaultTally tally;
  for (const auto& [kind, says] : {std::pair{"full", "No space left on device"}, {"broken", "Input/output error"}}) {
    std::filesystem::remove_all(run_);
    const FaultyRun faulty =
        run_with_fault(fmt::format("{}:0:30", kind), small_training(100) + "--quiet --ranks 2 --sequence-parallel 1 ",
                       run_, std::chrono::seconds(20));
    EXPECT_EQ(faulty.outcome.exit_code, 1);
    EXPECT_THAT(faulty.outcome.errors, MatchesRegex(fmt::format("ut: rank 0 on host [^\n ]+, after update [0-9]+: "
                                                                "[^\n]*/checkpoints/[^\n]*{}[^\n]*\n",
                                                                says)));
    const std::int64_t kept = expect_whole_checkpoints(run_);
    EXPECT_GT(kept, 0);
    for (const auto& entry : std::filesystem::directory_iterator(run_ + "/checkpoints"))
      EXPECT_NE(entry.path().extension(), ".tmp") << "half of a checkpoint was left";
    tally.tried(static_cast<std::int64_t>(losses_of(run_).size()) - kept, faulty.seconds);
    resume(run_, kept + 2);
  }
}

TEST_F(Checkpoints, AreOnTheDiskBeforeTheyTakeTheirPlace) {
  const FaultyRun run = run_with_fault("unsynced:-1:0", small_training(22), run_, std::chrono::seconds(60));
  EXPECT_EQ(run.outcome.exit_code, 0) << run.outcome.errors;
}

TEST_F(Checkpoints, EndTheRunIfTheyExceedTheFileSizeLimit) {
  const tests::Outcome limited = tests::run_shell("ulimit -f 8; $UT {} --run-dir {}",
                                                  small_training(100) + "--quiet --d-model 64 --ranks 1 ", run_);
  EXPECT_EQ(limited.exit_code, 1);
  EXPECT_THAT(limited.errors, MatchesRegex("ut: [^\n]*/checkpoints/[^\n]*File too large[^\n]*\n"));
}

TEST_F(Checkpoints, DoNotLowerTheReportedSpeedIfTheyTakeLong) {
  const FaultyRun faulty = run_with_fault("slow:-1:1", small_training(17), run_, std::chrono::seconds(60));
  ASSERT_EQ(faulty.outcome.exit_code, 0) << faulty.outcome.errors;
  EXPECT_GT(faulty.seconds, 2) << "nothing was slow";
  std::vector<double> after_checkpoint;
  std::vector<double> others;
  for (const auto& record : records_of(run_, "rows_per_s"))
    (record.at("update").get<int>() % 5 == 1 ? after_checkpoint : others).push_back(record.at("rows_per_s"));
  std::ranges::nth_element(others, others.begin() + std::ssize(others) / 2);
  after_checkpoint.erase(after_checkpoint.begin());  // no checkpoint came before the first update
  EXPECT_GT(std::ranges::max(after_checkpoint), 0.2 * others[others.size() / 2]);
}

/// One rank reads the whole best checkpoint. The others wait as long as that takes, longer than --timeout.
TEST_F(Checkpoints, ResumeTheRunEvenIfReadingTheBestIsSlow) {
  const std::string kept = "--keep-checkpoints 9 --ranks 2 --timeout 10 ";
  ASSERT_EQ(run_ut(small_training(27) + kept + "--run-dir " + run_).exit_code, 0);
  const FaultyRun late = run_with_fault("late:0:20", "train --resume --checkpoint update-25 --max-updates 26", run_,
                                        std::chrono::seconds(60));
  EXPECT_EQ(late.outcome.exit_code, 0) << late.outcome.errors;
  EXPECT_GT(late.seconds, 12) << "nothing was late";
  EXPECT_THAT(late.outcome.output, testing::Not(testing::HasSubstr("is gone")));
}

TEST_F(Checkpoints, EndTheRunIfTheirDirectoryIsRemoved) {
  FaultTally tally;
  const auto begin = std::chrono::steady_clock::now();
  const Outcome outcome = run_shell(
      "(until [ -e {0}/checkpoints/latest ]; do sleep 0.05; done; mv {0} {0}-gone; rm -rf {0}-gone) & timeout 30 {1} "
      "{2} --quiet --ranks 2 --sequence-parallel 2 --run-dir {0}",
      run_, std::getenv("UT"), small_training(1'000'000));
  tally.tried(0, std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_THAT(outcome.errors, MatchesRegex("ut: rank 0 on host [^\n ]+, after update [0-9]+: [^\n]*/run[^\n]*\n"));
}

TEST_F(Checkpoints, AreLeftAloneWhileAnotherProcessTrains) {
  FaultTally tally;
  const Outcome outcome = run_shell(
      "timeout -s KILL 30 {1} {2} --quiet --run-dir {0} & until [ -e {0}/checkpoints/latest ]; do sleep 0.05; done; "
      "{1} train --resume --run-dir {0}; code=$?; pkill -KILL -f -- {3}; exit $code",
      run_, std::getenv("UT"), small_training(1'000'000), processes_of(run_, true));
  tally.tried(0, 0);
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_THAT(outcome.errors, HasSubstr("ut: --run-dir " + run_ + ": another process trains there"));
  expect_whole_checkpoints(run_);
}

TEST_F(Checkpoints, AreRefusedIfDamagedAndAnEarlierOneIsOffered) {
  ASSERT_EQ(run_ut(small_training(20) + "--run-dir " + run_).exit_code, 0);
  const std::filesystem::path newest = core::find_checkpoint(run_ + "/checkpoints", "latest");
  ASSERT_EQ(newest.filename(), "update-00000020");
  const std::string go_on = "train --resume --max-updates 25 --run-dir " + run_;
  FaultTally tally;
  for (const char* file : {"model.safetensors", "optimizer.safetensors", "state.json"}) {
    const std::string content = base::read_file(newest / file);
    const std::size_t last = content.size() - 2;  // not the last byte: in state.json that is an end of line
    for (const std::size_t at : {std::size_t{0}, std::size_t{9}, last / 3, last / 2, last}) {
      for (const int bit : {0, 6}) {
        std::string altered = content;
        altered[at] = static_cast<char>(altered[at] ^ (1 << bit));
        base::write_file_whole(newest / file, altered);
        const Outcome refused = run_ut(go_on);
        EXPECT_EQ(refused.exit_code, 2) << file << " byte " << at;
        EXPECT_THAT(refused.errors, MatchesRegex(fmt::format("ut: [^\n]*update-00000020/{}: [^\n]*--checkpoint "
                                                             "update-00000015[^\n]*\n",
                                                             file)));
        tally.tried(5, 0);
        if (!tries_all_faults()) break;
      }
    }
    base::write_file_whole(newest / file, content);
  }
  const std::string options = base::read_file(run_ + "/options.conf");
  base::write_file_whole(run_ + "/options.conf", std::regex_replace(options, std::regex("\nseed = 1"), "\nseed = 3"));
  const Outcome altered = run_ut(go_on);
  EXPECT_EQ(altered.exit_code, 2);
  EXPECT_EQ(altered.errors, fmt::format("ut: {0}/options.conf: seed is 3, but 1 in {0}/checkpoints/update-00000020: "
                                        "the file was altered; restore that value\n",
                                        run_));
  base::write_file_whole(run_ + "/options.conf", options);
  base::write_file_whole(newest / "model.safetensors", "damaged");
  const Outcome earlier = run_ut(go_on + " --checkpoint update-15");
  EXPECT_EQ(earlier.exit_code, 0) << earlier.errors;
  const std::string whole = run_ + "-whole";
  ASSERT_EQ(run_ut(small_training(25) + "--run-dir " + whole).exit_code, 0);
  expect_equal_losses(losses_of(whole), losses_of(run_), 0);
  expect_equal_parameters(whole, run_, 0);
}

TEST_F(Checkpoints, AreReplacedAsTheBestIfDamaged) {
  FaultTally tally;
  for (const bool is_gone : {false, true}) {
    std::filesystem::remove_all(run_);
    run_with_fault("kill:1:33", small_training(40) + "--ranks 2 --sequence-parallel 2 ", run_,
                   std::chrono::seconds(30));
    const std::filesystem::path checkpoints = run_ + "/checkpoints";
    const std::filesystem::path best = checkpoints / "update-00000020";
    ASSERT_EQ(core::find_checkpoint(checkpoints, "latest").filename(), "update-00000030");
    ASSERT_EQ(core::find_checkpoint(checkpoints, "best").filename(), best.filename());
    if (is_gone)
      std::filesystem::remove_all(best);
    else
      base::write_file_whole(best / "model.safetensors", "damaged");
    run_with_fault("kill:1:3", "train --resume --max-updates 35 ", run_, std::chrono::seconds(30));
    EXPECT_FALSE(std::filesystem::exists(checkpoints / "best")) << "of what is gone";
    EXPECT_EQ(run_ut("evaluate --run-dir " + run_).exit_code, 0);
    const Outcome outcome = run_ut("train --resume --max-updates 35 --run-dir " + run_);
    tally.tried(0, 0);
    EXPECT_EQ(outcome.exit_code, 0) << outcome.errors;
    EXPECT_THAT(outcome.output, HasSubstr("the checkpoint of the best update so far, 20, is gone or damaged"));
    EXPECT_EQ(core::find_checkpoint(checkpoints, "best").filename(), "update-00000035");
  }
}

TEST_F(Checkpoints, AreNotTheLatestOnceTheRunResumesFromAnEarlierOne) {
  FaultTally tally;
  const std::string mesh = "--ranks 2 --sequence-parallel 2 ";
  ASSERT_EQ(run_ut(small_training(20) + "--keep-checkpoints 9 " + mesh + "--run-dir " + run_).exit_code, 0);
  const FaultyRun killed =
      run_with_fault("kill:1:2", "train --resume --checkpoint update-10 " + mesh, run_, std::chrono::seconds(30));
  tally.tried(1, killed.seconds);
  EXPECT_EQ(core::find_checkpoint(run_ + "/checkpoints", "latest").filename(), "update-00000010");
  resume(run_, 20);
  EXPECT_EQ(losses_of(run_).size(), 20);
}

TEST_F(Checkpoints, AreRefusedInAnotherFormat) {
  ASSERT_EQ(run_ut(small_training(5) + "--run-dir " + run_).exit_code, 0);
  const std::filesystem::path state_file = core::find_checkpoint(run_ + "/checkpoints", "latest") / "state.json";
  auto state = nlohmann::json::parse(base::read_file(state_file));
  FaultTally tally;
  for (const int format : {0, 2}) {
    state.erase("digest");
    state["format"] = format;
    const std::string text = state.dump();
    state["digest"] = base::digest(text.data(), text.size());
    base::write_file_whole(state_file, state.dump());
    const Outcome refused = run_ut("train --resume --max-updates 9 --run-dir " + run_);
    tally.tried(0, 0);
    EXPECT_EQ(refused.exit_code, 2);
    EXPECT_THAT(refused.errors, HasSubstr(fmt::format("checkpoint format {}, this program reads format 1", format)));
  }
}

TEST_F(Checkpoints, AreKeptAsAskedFor) {
  const Outcome outcome =
      run_ut(small_training(60) + "--evaluate-every 0 --keep-checkpoints 2 --keep-every 20 --run-dir " + run_);
  ASSERT_EQ(outcome.exit_code, 0) << outcome.errors;
  std::vector<std::string> kept;
  for (const auto& entry : std::filesystem::directory_iterator(run_ + "/checkpoints"))
    if (entry.is_directory()) kept.push_back(entry.path().filename().string());
  EXPECT_THAT(
      kept, testing::UnorderedElementsAre("update-00000020", "update-00000040", "update-00000055", "update-00000060"));
}

}  // namespace
}  // namespace ut::tests
