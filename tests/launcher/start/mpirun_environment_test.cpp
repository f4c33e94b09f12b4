#include "launcher/start/mpirun_environment.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <map>
#include <string>

#include "base/error.h"

namespace ut::launcher {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

TEST(MpirunEnvironment, ThreadsShareTheCores) {
  EXPECT_EQ(threads_per_rank(8, 2), 4);
  EXPECT_EQ(threads_per_rank(8, 3), 2);
  EXPECT_EQ(threads_per_rank(2, 8), 1);
}

TEST(MpirunEnvironment, ThreadsMustBeAPossibleNumber) {
  const auto check = [](const char* value) { check_threads_variable([=](const char*) { return value; }); };
  for (const char* good : {"1", " 8 ", "4096", "4,2", "4, 2 ,1"}) EXPECT_NO_THROW(check(good)) << good;
  EXPECT_NO_THROW(check(nullptr));
  for (const char* bad : {"", " ", "0", "-3", "abc", "4x", "2.5", "4097", "99999999999999999999", "4,", ",4", "4,0"})
    EXPECT_THAT([&] { check(bad); },
                ThrowsMessage<base::BadInput>(HasSubstr(fmt::format("OMP_NUM_THREADS \"{}\"", bad))));
}

TEST(MpirunEnvironment, VariablesOfLibrariesArePassedToOtherHosts) {
  const std::array<const char*, 8> environment{"UCX_TLS=tcp",
                                               "PATH=/bin",
                                               "NCCL_SOCKET_IFNAME=eth0=1",
                                               "OMP_NUM_THREADS=3",
                                               "OMP_PROC_BIND=1",
                                               "GOMP_SPINCOUNT=1000",
                                               "PYTORCH_ALLOC_CONF=expandable_segments:True",
                                               nullptr};
  EXPECT_THAT(variables_for_hosts(environment.data()),
              ElementsAre("GOMP_SPINCOUNT", "NCCL_SOCKET_IFNAME", "OMP_NUM_THREADS", "OMP_PROC_BIND",
                          "PYTORCH_ALLOC_CONF", "UCX_TLS"));
}

TEST(MpirunEnvironment, AHostThatIsLostIsNoticedWithinTheTimeout) {
  for (const std::int64_t timeout : {10, 29, 60, 10000}) {
    std::map<std::string, std::string> settings;
    for (const auto& [name, value] : host_settings(timeout)) settings[name] = value;
    for (const std::string of : {"OMPI_MCA_", "PRTE_MCA_"}) {
      const auto number = [&](const std::string& name) { return std::stol(settings.at(of + "oob_tcp_" + name)); };
      const auto noticed = number("keepalive_time") + number("keepalive_intvl") * number("keepalive_probes");
      EXPECT_LT(noticed, timeout);
      EXPECT_GE(noticed, std::min<std::int64_t>(timeout, 30) / 2);
    }
  }
}

}  // namespace
}  // namespace ut::launcher
