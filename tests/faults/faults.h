#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include "tests/program/program.h"

namespace ut::tests {

/// Whether to try all faults in full numbers (UT_FAULTS=all), rather than a quick selection.
bool tries_all_faults();

/// Arguments of `ut`: a small training in float64, with dropout, a line of metrics for every update and a checkpoint at
/// every fifth.
std::string small_training(std::int64_t updates);

/// A run of `ut` into which UT_FAULT has put a fault (tests/faults/inject.cpp). run_with_fault() expects it to end
/// within the time `most` and to leave no process.
struct FaultyRun {
  Outcome outcome;
  double seconds = 0;  // in all
};
FaultyRun run_with_fault(const std::string& fault, const std::string& arguments, const std::string& run_directory,
                         std::chrono::seconds most);

/// Expects every checkpoint of the run to be whole, and `latest` to be one of them. Returns the newest one's update, 0
/// if there is none.
std::int64_t expect_whole_checkpoints(const std::string& run_directory);

/// Resumes a run on the ranks that it had, up to `updates`, and expects success.
void resume(const std::string& run_directory, std::int64_t updates);

/// The running test's line of the table at the end: how many faults were tried, and, over all of them, the most updates
/// lost and the most seconds until the job had ended.
class FaultTally {
 public:
  void tried(std::int64_t lost_updates, double seconds);
  ~FaultTally();
  FaultTally() = default;
  FaultTally(const FaultTally&) = delete;
  FaultTally& operator=(const FaultTally&) = delete;

 private:
  std::int64_t tried_ = 0;
  std::int64_t lost_updates_ = 0;
  double seconds_ = 0;
};

}  // namespace ut::tests
