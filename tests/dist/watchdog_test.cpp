#include "dist/watchdog.h"

#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <string>
#include <thread>

namespace ut::dist {
namespace {

using std::chrono::milliseconds;

TEST(Watchdog, SaysWhatIsWaitedForTooLong) {
  std::promise<std::string> said;
  Watchdog watchdog(milliseconds(100), [&](const std::string& what) { said.set_value(what); });
  const Watchdog::Wait wait(&watchdog, "all-reduce");
  EXPECT_EQ(said.get_future().get(), "all-reduce");
}

TEST(Watchdog, KnowsHowLongAWaitHasLasted) {
  Watchdog watchdog(milliseconds(2000), [](const std::string&) {});
  EXPECT_EQ(watchdog.waited(), milliseconds(0)) << "no wait yet";
  {
    const Watchdog::Wait wait(&watchdog, "all-reduce");
    std::this_thread::sleep_for(milliseconds(600));
    EXPECT_GE(watchdog.waited(), milliseconds(100));
    EXPECT_LE(watchdog.waited(), milliseconds(600));
  }
  EXPECT_EQ(watchdog.waited(), milliseconds(0)) << "it is over";
  const Watchdog::Wait next(&watchdog, "all-reduce");
  EXPECT_EQ(watchdog.waited(), milliseconds(0)) << "the next has just begun";
  EXPECT_EQ(watchdog.wait(), 2);
}

TEST(Watchdog, IgnoresShortWaitsAndTheTimeBetweenThem) {
  std::atomic<int> said = 0;
  Watchdog watchdog(milliseconds(400), [&](const std::string&) { ++said; });
  for (int time = 0; time < 40; ++time) {
    const Watchdog::Wait wait(&watchdog, "all-reduce");
    std::this_thread::sleep_for(milliseconds(20));
  }
  std::this_thread::sleep_for(milliseconds(800));
  EXPECT_EQ(said, 0);
}

TEST(Watchdog, EndsAtOnceAndMayBeNull) {
  const auto begin = std::chrono::steady_clock::now();
  {
    const Watchdog watchdog(std::chrono::hours(1), [](const std::string&) {});
  }
  const Watchdog::Wait nobody_watches(nullptr, "all-reduce");
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(1));
}

}  // namespace
}  // namespace ut::dist
