#include "launcher/start/mpirun_command.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>

namespace ut::launcher {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::IsSupersetOf;
using ::testing::Not;

TEST(MpirunCommand, StartsRanksOnThisMachine) {
  SpawnRequest request;
  request.ranks = 2;
  request.arguments = {"train", "--data", "a b"};
  EXPECT_THAT(mpirun_command(request, "/opt/mpi/bin/mpirun", "/bin/ut", false),
              ElementsAre("/opt/mpi/bin/mpirun", "--bind-to", "none", "--oversubscribe", "--mca", "mpi_yield_when_idle",
                          "1", "-x", "UT_TERMINAL", "-n", "2", "/bin/ut", "train", "--data", "a b"));
  EXPECT_THAT(mpirun_command(request, "mpirun", "/bin/ut", true), IsSupersetOf({"--allow-run-as-root"}));
}

TEST(MpirunCommand, StartsRanksOnHosts) {
  SpawnRequest request;
  request.ranks = 3;
  request.hosts = {{"one", 2}, {"10.0.0.2", 1}};
  const auto command = mpirun_command(request, "/opt/mpi/bin/mpirun", "/bin/ut", false);
  EXPECT_THAT(command, IsSupersetOf({"--prefix", "/opt/mpi", "--map-by", "slot", "--host", "one:2,10.0.0.2:1"}));
  EXPECT_THAT(command, Not(Contains("--oversubscribe")));
  const auto told = mpirun_command(request, "/opt/mpi/bin/mpirun", "/bin/ut", false, {"NCCL_DEBUG"});
  const auto name = std::ranges::find(told, "NCCL_DEBUG");
  ASSERT_NE(name, told.end());
  EXPECT_EQ(*std::prev(name), "-x");
}

}  // namespace
}  // namespace ut::launcher
