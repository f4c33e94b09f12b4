// A list of hosts. No host name is looked up.

#include "launcher/start/hosts.h"
#include "tests/fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace ut;
  const std::string content(reinterpret_cast<const char*>(data), size);
  tests::try_action([&] {
    const auto hosts = launcher::parse_hosts(content, "hosts", [](const std::string&, const std::string&) {});
    tests::require(!hosts.empty(), "no hosts");
    for (const launcher::Host& host : hosts) {
      tests::require(host.slots > 0, "a host without slots");
      // mpirun gets the hosts as one word, HOST:SLOTS,HOST:SLOTS.
      tests::require(!host.name.empty() && host.name[0] != '-', "a host that is an option");
      tests::require(host.name.find_first_of(",; \t\n\0") == std::string::npos, "a host that is several");
    }
    tests::require(launcher::slots_of(hosts) > 0, "no slots");
  });
  return 0;
}
