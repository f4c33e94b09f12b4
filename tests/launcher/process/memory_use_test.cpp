#include "launcher/process/memory_use.h"

#include <gtest/gtest.h>
#include <unistd.h>

namespace ut::launcher {
namespace {

TEST(MemoryUse, AContainersLimitCounts) {
  EXPECT_EQ(bytes_of_limit("8589934592"), 8589934592);
  for (const char* unlimited : {"max", "", "0"}) EXPECT_EQ(bytes_of_limit(unlimited), std::nullopt) << unlimited;
  EXPECT_GT(usable_memory(), most_memory());
  EXPECT_LE(usable_memory(), ::sysconf(_SC_PHYS_PAGES) * ::sysconf(_SC_PAGESIZE));
}

}  // namespace
}  // namespace ut::launcher
