#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include "tests/program/program.h"

namespace ut::tests {

/// All faults, in their full numbers (UT_FAULTS=all), or a quick selection.
bool thorough();

/// Arguments of `ut`: a small training in float64, with dropout, a line of metrics for every update and a checkpoint at
/// every fifth.
std::string small_training(std::int64_t updates);

/// Runs `ut` with these arguments while UT_FAULT says what goes wrong (tests/faults/inject.cpp). Expects it to end
/// within the time, and to leave no process.
struct FaultyRun {
  Outcome outcome;
  double seconds = 0;  // that it took in all
};
FaultyRun run_with_fault(const std::string& fault, const std::string& arguments, const std::string& run_directory,
                         std::chrono::seconds most);

/// Expects every checkpoint of the run to be whole, and `latest` to be one of them; returns its update, 0 where there
/// is none.
std::int64_t expect_whole_checkpoints(const std::string& run_directory);

/// Goes on with a run, on the ranks that it was on, to so many updates, and expects that to go well.
void resume(const std::string& run_directory, std::int64_t updates);

/// What the table at the end says of the test that runs: how many faults were tried, and the most updates that were
/// done again and seconds until the job had ended, of any of them.
class Account {
 public:
  void tried(std::int64_t lost_updates, double seconds);
  ~Account();
  Account() = default;
  Account(const Account&) = delete;
  Account& operator=(const Account&) = delete;

 private:
  std::int64_t tried_ = 0;
  std::int64_t lost_updates_ = 0;
  double seconds_ = 0;
};

}  // namespace ut::tests
