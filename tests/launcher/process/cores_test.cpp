#include "launcher/process/cores.h"

#include <gtest/gtest.h>
#include <sched.h>

#include <thread>

namespace ut::launcher {
namespace {

TEST(Cores, AQuotaOfTimeIsRoundedUpToWholeCores) {
  EXPECT_EQ(cores_of_quota("200000 100000"), 2);
  EXPECT_EQ(cores_of_quota("150000 100000"), 2);
  EXPECT_EQ(cores_of_quota("50000 100000"), 1);
  for (const char* unlimited : {"max 100000", "", "100000", "0 100000", "100000 0"})
    EXPECT_EQ(cores_of_quota(unlimited), std::nullopt) << unlimited;
}

TEST(Cores, AreThoseThatTheProcessMayRunOn) {
  EXPECT_GE(usable_cores(), 1);
  EXPECT_LE(usable_cores(), cores_of_host());
  std::int64_t usable = 0;
  std::thread([&usable] {
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(::sched_getcpu(), &one);
    EXPECT_EQ(::sched_setaffinity(0, sizeof one, &one), 0);  // for this thread alone
    usable = usable_cores();
    EXPECT_EQ(count_cores(allowed_cores()), 1);
  }).join();
  EXPECT_EQ(usable, 1);
}

}  // namespace
}  // namespace ut::launcher
