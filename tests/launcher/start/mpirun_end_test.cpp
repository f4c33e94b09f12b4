#include "launcher/start/mpirun_end.h"

#include <gtest/gtest.h>

#include <csignal>
#include <string>
#include <utility>

namespace ut::launcher {
namespace {

SpawnRequest training() {
  SpawnRequest request;
  request.metrics = "/nowhere/metrics.jsonl";
  return request;
}

constexpr int exited(int code) { return code << 8; }  // the status that wait() gives

/// The exit code and the text on standard error.
std::pair<int, std::string> told(const MpirunEnd& end, const SpawnRequest& request) {
  testing::internal::CaptureStderr();
  const int code = exit_code(end, request);
  return {code, testing::internal::GetCapturedStderr()};
}

TEST(MpirunEnd, SaysThatCtrlCEndedHangingRanks) {
  MpirunEnd end{exited(1), true, true};
  EXPECT_EQ(told(end, training()), std::pair(1, std::string("ut: stopped before it could finish\n")));
  end.told.cause = true;
  EXPECT_EQ(told(end, training()), std::pair(1, std::string()));
  end = {exited(1), true, false};
  end.told.rank_has_ended = true;
  EXPECT_EQ(told(end, training()), std::pair(1, std::string())) << "a rank's own failure";
  EXPECT_EQ(told({exited(0), true, true}, training()), std::pair(0, std::string()));
}

TEST(MpirunEnd, IsNeverAFailureWithoutAWord) {
  MpirunEnd end{exited(1), false, false};
  EXPECT_EQ(told(end, training()), std::pair(1, std::string("ut: mpirun ended with 1 before its ranks did\n")));
  end.told.has_given_up = true;
  EXPECT_TRUE(told(end, training()).second.starts_with("ut: MPI has failed, as its own lines")) << "in MPI_Init";
  EXPECT_EQ(told({exited(75), true, false}, training()), std::pair(75, std::string()));
}

TEST(MpirunEnd, NamesARankThatASignalEnded) {
  const MpirunEnd end{exited(128 + SIGKILL), false, false, {MpirunErrors::Ended{3, "n2"}}};
  EXPECT_EQ(told(end, training()),
            std::pair(1, std::string("ut: rank 3 on host n2: ended by signal 9 (Killed): out of memory?\n")));
}

TEST(MpirunEnd, IsAStopOnRequestEvenBeforeTrainingTakesSignals) {
  const MpirunEnd end{exited(128 + SIGUSR1), true, false, {MpirunErrors::Ended{0, "n1"}}};
  EXPECT_EQ(told(end, training()).first, 75);
  EXPECT_EQ(told(end, {}), std::pair(1, std::string("ut: stopped before it could finish\n")));
}

}  // namespace
}  // namespace ut::launcher
