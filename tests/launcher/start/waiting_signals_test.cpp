#include "launcher/start/waiting_signals.h"

#include <gtest/gtest.h>

#include <cstdlib>

namespace ut::launcher {
namespace {

TEST(WaitingSignals, ReportAStopThatCameBeforeTheyWereAsked) {
  const WaitingSignals signals({SIGTERM});
  EXPECT_FALSE(signals.stop_has_come());
  ::raise(SIGTERM);
  EXPECT_TRUE(signals.stop_has_come());
  EXPECT_EQ(signals.next(), SIGTERM);
  EXPECT_FALSE(signals.stop_has_come());
  signals.restore();  // for the tests that follow
}

TEST(WaitingSignalsDeathTest, DoNotEndTheProgramAfterTheirDestruction) {
  const auto stopped_at_its_end = [] {
    { const WaitingSignals signals({SIGTERM}); }
    ::raise(SIGTERM);
    std::exit(7);
  };
  EXPECT_EXIT(stopped_at_its_end(), testing::ExitedWithCode(7), "");
}

}  // namespace
}  // namespace ut::launcher
