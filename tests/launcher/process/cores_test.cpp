#include "launcher/process/cores.h"

#include <gtest/gtest.h>

#include <thread>

namespace ut::launcher {
namespace {

TEST(Cores, AQuotaOfTimeIsSoManyCoresRoundedUp) {
  EXPECT_EQ(cores_of_quota("200000 100000"), 2);
  EXPECT_EQ(cores_of_quota("150000 100000"), 2);
  EXPECT_EQ(cores_of_quota("50000 100000"), 1);
  for (const char* unlimited : {"max 100000", "", "100000", "0 100000", "100000 0"})
    EXPECT_EQ(cores_of_quota(unlimited), std::nullopt) << unlimited;
}

TEST(Cores, AreNoMoreThanTheMachines) {
  EXPECT_GE(usable_cores(), 1);
  EXPECT_LE(usable_cores(), std::thread::hardware_concurrency());
}

}  // namespace
}  // namespace ut::launcher
