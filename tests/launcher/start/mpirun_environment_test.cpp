#include "launcher/start/mpirun_environment.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <map>
#include <string>

namespace ut::launcher {
namespace {

using ::testing::ElementsAre;

TEST(MpirunEnvironment, ThreadsShareTheCores) {
  EXPECT_EQ(threads_per_rank(8, 2), 4);
  EXPECT_EQ(threads_per_rank(8, 3), 2);
  EXPECT_EQ(threads_per_rank(2, 8), 1);
}

TEST(MpirunEnvironment, RanksOnOtherHostsAreToldWhatTheirLibrariesAreTold) {
  const std::array<const char*, 6> environment{"UCX_TLS=tcp",       "PATH=/bin",       "NCCL_SOCKET_IFNAME=eth0=1",
                                               "OMP_NUM_THREADS=3", "OMP_PROC_BIND=1", nullptr};
  EXPECT_THAT(variables_for_hosts(environment.data()), ElementsAre("NCCL_SOCKET_IFNAME", "OMP_PROC_BIND", "UCX_TLS"));
}

TEST(MpirunEnvironment, AHostThatIsLostIsNoticedWithinTheTimeout) {
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
