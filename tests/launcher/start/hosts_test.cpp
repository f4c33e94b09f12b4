#include "launcher/start/hosts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/bad_input.h"
#include "tests/temporary_directory.h"

namespace ut::launcher {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

class Hosts : public testing::Test {
 protected:
  std::vector<Host> read(const std::string& text) { return read_host_file(scratch_.write("hosts", text)); }
  std::string refused(const std::string& text) {
    return tests::bad_input([&] { read(text); });
  }

 private:
  tests::TemporaryDirectory scratch_;
};

TEST_F(Hosts, AreReadInTheirOrder) {
  const auto hosts = read("# ours\n127.0.0.2 slots=4   # the large one\n\n  127.0.0.1\tslots=2\n127.0.0.3\n");
  ASSERT_EQ(hosts.size(), 3);
  EXPECT_EQ(hosts[0].name, "127.0.0.2");
  EXPECT_EQ(hosts[0].slots, 4);
  EXPECT_EQ(hosts[1].slots, 2);
  EXPECT_EQ(hosts[2].slots, 1);
  EXPECT_EQ(slots_of(hosts), 7);
}

TEST_F(Hosts, MayStandInLinesThatEndWithACarriageReturn) {
  const auto hosts = read("127.0.0.1 slots=2\r\n\r\n127.0.0.2\r\n");
  ASSERT_EQ(hosts.size(), 2);
  EXPECT_EQ(hosts[0].slots, 2);
  EXPECT_EQ(hosts[1].name, "127.0.0.2");
}

TEST_F(Hosts, ManyAreReadSoon) {
  std::string text;
  for (int host = 0; host < 200000; ++host) text += "host-" + std::to_string(host) + "\n";
  int checked = 0;
  EXPECT_EQ(parse_hosts(text, "hosts", [&](const std::string&, const std::string&) { ++checked; }).size(), 200000);
  EXPECT_EQ(checked, 200000);
}

TEST_F(Hosts, LinesOfAHostAddUp) {
  const auto hosts = read("127.0.0.1\n127.0.0.2\n127.0.0.1\n127.0.0.1 slots=2\n");
  ASSERT_EQ(hosts.size(), 2);
  EXPECT_EQ(hosts[0].slots, 4);
}

TEST_F(Hosts, WrongLinesAreRefusedWithFileAndLine) {
  for (const std::string wrong : {"cores=2", "slots=0", "slots=x", "slots=", "slots=2x", "2", "slots=-1",
                                  "slots=9223372036854775807", "slots=99999999999999999999"})
    EXPECT_THAT(refused("127.0.0.1\n127.0.0.2 " + wrong + "\n"),
                AllOf(HasSubstr("--hostfile "), HasSubstr("/hosts line 2: \"" + wrong + "\""), HasSubstr("slots=N")));
  EXPECT_THAT(refused("127.0.0.1\nno-such-host.invalid slots=2\n"),
              AllOf(HasSubstr("/hosts line 2"), HasSubstr("\"no-such-host.invalid\"")));
  for (const std::string wrong : {"-oProxyCommand=x", "127.0.0.1,127.0.0.2", "127.0.0.1:9", "a\x1b[2J", "m\xffn"})
    EXPECT_THAT(refused("127.0.0.1\n" + wrong + " slots=2\n"), AllOf(HasSubstr("line 2"), HasSubstr("is no host")));
  EXPECT_THAT(refused("# none\n"), HasSubstr("no host in it"));
  EXPECT_THAT(refused(""), HasSubstr("no host in it"));
  EXPECT_THAT(tests::bad_input([] { read_host_file("/no/hosts"); }),
              HasSubstr("--hostfile /no/hosts: no such file, needs"));
}

}  // namespace
}  // namespace ut::launcher
