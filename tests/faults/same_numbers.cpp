// A run gives the same numbers when repeated and when resumed on another mesh. A long run takes no more memory.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "core/checkpoint.h"
#include "core/checkpoint_directory.h"
#include "tests/faults/faults.h"

namespace ut::tests {
namespace {

struct Mesh {
  int data_parallel;
  int sequence_parallel;
  std::string options() const {
    return fmt::format(" --ranks {} --sequence-parallel {} ", data_parallel * sequence_parallel, sequence_parallel);
  }
  std::string name() const { return fmt::format("{}x{}", data_parallel, sequence_parallel); }
};

class Numbers : public testing::Test {
 protected:
  TemporaryDirectory directory_;
};

TEST_F(Numbers, AreTheSameAfterResumingOnAnyOtherMesh) {
  const std::vector<Mesh> meshes{{1, 1}, {2, 1}, {1, 2}, {2, 2}, {4, 1}, {1, 4}, {1, 3}};
  const std::string whole = directory_ / "whole";
  ASSERT_EQ(run_ut(small_training(50) + "--run-dir " + whole).exit_code, 0);
  FaultTally tally;
  for (std::size_t first = 0; first < meshes.size(); first += tries_all_faults() ? 1 : 2) {
    const std::string stopped = directory_ / meshes[first].name();
    ASSERT_EQ(run_ut(small_training(25) + meshes[first].options() + "--run-dir " + stopped).exit_code, 0);
    for (std::size_t second = 0; second < meshes.size(); ++second) {
      if (!tries_all_faults() && second != (first + 3) % meshes.size()) continue;
      SCOPED_TRACE(meshes[first].name() + " to " + meshes[second].name());
      const std::string run = directory_ / (meshes[first].name() + "-" + meshes[second].name());
      std::filesystem::copy(stopped, run, std::filesystem::copy_options::recursive);
      const Outcome resumed = run_ut("train --resume --max-updates 50 --run-dir {} {}", run, meshes[second].options());
      ASSERT_EQ(resumed.exit_code, 0) << resumed.errors;
      tally.tried(0, 0);
      expect_equal_losses(losses_of(whole), losses_of(run), 1e-9);
      expect_equal_parameters(whole, run, 1e-9);
      std::filesystem::remove_all(run);
    }
  }
}

TEST_F(Numbers, AreTheSameBitsIfTheRunIsRepeated) {
  FaultTally tally;
  for (const std::string dtype : {"float64", "float32"}) {
    for (const std::string mesh :
         {"--threads 2", "--ranks 2 --sequence-parallel 2", "--ranks 4 --sequence-parallel 2"}) {
      if (!tries_all_faults() && mesh.find('4') != std::string::npos) continue;
      SCOPED_TRACE(dtype + mesh);
      const std::string command =
          small_training(40) + mesh + " --dtype " + dtype + " --halting act-copy --steps 4 --run-dir ";
      const std::string one = directory_ / "one";
      const std::string other = directory_ / "other";
      ASSERT_EQ(run_ut(command + one).exit_code, 0);
      ASSERT_EQ(run_ut(command + other).exit_code, 0);
      tally.tried(0, 0);
      expect_equal_losses(losses_of(one), losses_of(other), 0);
      expect_equal_parameters(one, other, 0);
      std::filesystem::remove_all(one);
      std::filesystem::remove_all(other);
    }
  }
}

/// The largest resident memory of any rank, in KiB, once the run has done so many updates.
std::int64_t memory_at(const std::string& run, std::int64_t updates) {
  const Outcome outcome = run_shell(
      "n=0; until [ $((n += 1)) -gt 6000 ] || [ \"$(sed -nE '$s/.\"update\":([0-9]+),.*/\\1/p' {0}/metrics.jsonl)\" "
      "-ge {1} ] 2>/dev/null; do sleep 0.1; done; pgrep -f -- '^{2} .*[-]-run-dir {0}( |$)' | while read -r rank; do "
      "awk '/VmRSS/ {{ print $2 }}' /proc/$rank/status; done | sort -n | tail -n 1",
      run, updates, std::getenv("UT"));
  if (outcome.output.empty()) ADD_FAILURE() << "the run has ended";
  return outcome.output.empty() ? 0 : std::stoll(outcome.output);
}

TEST_F(Numbers, TakeNoMoreMemoryInALongRun) {
  const std::int64_t updates = tries_all_faults() ? 20'000 : 1'000;
  const std::string run = directory_ / "run";
  FaultTally tally;
  const auto begin = std::chrono::steady_clock::now();
  run_shell(
      "setsid {} {} --halting act-copy --steps 4 --log-every 20 --evaluate-every 500 --checkpoint-every 500 "
      "--check-ranks 100 --ranks 2 --sequence-parallel 2 --quiet --run-dir {} >{}/said 2>&1 &",
      std::getenv("UT"), small_training(updates), run, directory_.path().string());
  const std::int64_t early = memory_at(run, tries_all_faults() ? 1000 : 400);
  const std::int64_t late = memory_at(run, updates - 100);
  run_shell("while pgrep -f -- '[-]-run-dir {}( |$)' >/dev/null; do sleep 0.2; done", run);
  tally.tried(0, std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
  fmt::print("resident memory: {} KiB early, {} KiB after {} updates\n", early, late, updates - 100);
  EXPECT_LT(late, early + 1024) << "KiB";
  EXPECT_EQ(core::read_state(core::find_checkpoint(run + "/checkpoints", "latest")).at("update"), updates);
}

}  // namespace
}  // namespace ut::tests
