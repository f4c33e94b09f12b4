#include "launcher/start/reminders.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <thread>

namespace ut::launcher {
namespace {

TEST(Reminders, InterruptsEndASecondAfterTheFirstHoweverManyComeBetween) {
  using Clock = std::chrono::steady_clock;
  const pid_t child = ::fork();
  if (child == 0)
    for (;;) ::pause();
  Reminders reminders(child, std::chrono::seconds(60));
  const auto begin = Clock::now();
  reminders.interrupt();
  EXPECT_FALSE(reminders.told_to_end());
  while (Clock::now() < begin + std::chrono::milliseconds(1100)) {
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
    reminders.interrupt();
  }
  EXPECT_TRUE(reminders.told_to_end());
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
}

}  // namespace
}  // namespace ut::launcher
