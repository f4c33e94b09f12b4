#include "tests/faults/faults.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <string_view>

#include "core/checkpoint.h"
#include "core/checkpoint_directory.h"
#include "core/safetensors.h"

namespace ut::tests {

bool tries_all_faults() {
  const char* wanted = std::getenv("UT_FAULTS");
  return wanted != nullptr && std::string_view(wanted) == "all";
}

std::string small_training(std::int64_t updates) {
  return fmt::format(
      "train --task addition --train-length 9 --evaluation-length 9 --evaluation-examples 10 --train-examples 100 "
      "--d-model 16 --heads 2 --ffn 32 --steps 2 --batch 8 --dropout 0.2 --dtype float64 --schedule constant "
      "--learning-rate 0.003 --warmup 5 --log-every 1 --evaluate-every 20 --checkpoint-every 5 --threads 1 "
      "--max-updates {} ",
      updates);
}

FaultyRun run_with_fault(const std::string& fault, const std::string& arguments, const std::string& run_directory,
                         std::chrono::seconds most) {
  const auto begin = std::chrono::steady_clock::now();
  FaultyRun run;
  run.outcome = run_shell("UT_FAULT={} LD_PRELOAD={} timeout -s KILL {} {} {} --run-dir {}", fault,
                          std::getenv("UT_INJECT"), most.count(), std::getenv("UT"), arguments, run_directory);
  run.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  EXPECT_LT(run.seconds, static_cast<double>(most.count())) << fault;
  const std::string processes = fmt::format("pgrep -fc -- '[-]-run-dir {}( |$)'", run_directory);
  EXPECT_EQ(run_shell("for try in 1 2 3 4 5 6; do {0} >/dev/null || break; sleep 0.5; done; {0}", processes).output,
            "0\n")
      << fault << " left a process";
  return run;
}

std::int64_t expect_whole_checkpoints(const std::string& run_directory) {
  const std::filesystem::path directory = run_directory + "/checkpoints";
  std::int64_t latest = 0;
  for (const auto& entry : std::filesystem::directory_iterator(directory)) {
    const std::string name = entry.path().filename().string();
    if (!entry.is_directory() || name.find('.') != std::string::npos) continue;
    const auto state = core::read_state(entry.path());
    for (const char* file : {"model.safetensors", "optimizer.safetensors"})
      EXPECT_NO_THROW(core::read_safetensors(entry.path() / file));
    latest = std::max(latest, state.at("update").get<std::int64_t>());
  }
  if (latest > 0) {
    EXPECT_NO_THROW(core::find_checkpoint(directory, "latest")) << run_directory;
  }
  return latest;
}

void resume(const std::string& run_directory, std::int64_t updates) {
  const Outcome resumed = run_ut("train --resume --max-updates {} --run-dir {}", updates, run_directory);
  EXPECT_EQ(resumed.exit_code, 0) << resumed.errors;
  EXPECT_EQ(resumed.errors, "");
}

void FaultTally::tried(std::int64_t lost_updates, double seconds) {
  ++tried_;
  lost_updates_ = std::max(lost_updates_, lost_updates);
  seconds_ = std::max(seconds_, seconds);
}

FaultTally::~FaultTally() {
  testing::Test::RecordProperty("tried", std::to_string(tried_));
  testing::Test::RecordProperty("lost_updates", std::to_string(lost_updates_));
  testing::Test::RecordProperty("seconds", fmt::format("{:.1f}", seconds_));
}

}  // namespace ut::tests
