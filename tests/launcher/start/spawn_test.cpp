#include "launcher/start/spawn.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <map>

namespace ut::launcher {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::IsSupersetOf;
using ::testing::Not;

TEST(Spawn, ThreadsShareTheCores) {
  EXPECT_EQ(threads_per_rank(8, 2), 4);
  EXPECT_EQ(threads_per_rank(8, 3), 2);
  EXPECT_EQ(threads_per_rank(2, 8), 1);
}

TEST(Spawn, MpirunCommand) {
  SpawnRequest request;
  request.ranks = 2;
  request.arguments = {"train", "--data", "a b"};
  EXPECT_THAT(
      mpirun_command(request, "/opt/mpi/bin/mpirun", "/bin/ut", false),
      ElementsAre("/opt/mpi/bin/mpirun", "--bind-to", "none", "--oversubscribe", "--mca", "mpi_yield_when_idle", "1",
                  "-x", "OMP_NUM_THREADS", "-x", "UT_TERMINAL", "-n", "2", "/bin/ut", "train", "--data", "a b"));
  EXPECT_THAT(mpirun_command(request, "mpirun", "/bin/ut", true), IsSupersetOf({"--allow-run-as-root"}));
}

TEST(Spawn, MpirunCommandOnHosts) {
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

TEST(Spawn, RanksOnOtherHostsAreToldWhatTheirLibrariesAreTold) {
  const std::array<const char*, 6> environment{"UCX_TLS=tcp",       "PATH=/bin",       "NCCL_SOCKET_IFNAME=eth0=1",
                                               "OMP_NUM_THREADS=3", "OMP_PROC_BIND=1", nullptr};
  EXPECT_THAT(variables_for_hosts(environment.data()), ElementsAre("NCCL_SOCKET_IFNAME", "OMP_PROC_BIND", "UCX_TLS"));
}

TEST(Spawn, AHostThatIsLostIsNoticedWithinTheTimeout) {
  for (const std::int64_t timeout : {10, 29, 60, 10000}) {
    std::map<std::string, std::string> settings;
    for (const auto& [name, value] : host_settings(timeout)) settings[name] = value;
    const auto number = [&](const std::string& name) { return std::stol(settings.at("OMPI_MCA_oob_tcp_" + name)); };
    const auto noticed = number("keepalive_time") + number("keepalive_intvl") * number("keepalive_probes");
    EXPECT_LT(noticed, timeout);
    EXPECT_GE(noticed, std::min<std::int64_t>(timeout, 30) / 2);
  }
}

}  // namespace
}  // namespace ut::launcher
