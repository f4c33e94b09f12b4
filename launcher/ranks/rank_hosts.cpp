#include "launcher/ranks/rank_hosts.h"

#include <unistd.h>

#include <algorithm>
#include <array>

#include "launcher/ranks/shared_values.h"

namespace ut::launcher {

std::string host_name() {
  std::array<char, 256> name{};
  return gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "unknown";
}

std::int64_t Hosts::most_ranks() const {
  std::vector<std::int64_t> ranks(names.size(), 0);
  for (const std::size_t host : of_rank) ++ranks[host];
  return *std::ranges::max_element(ranks);
}

Hosts find_hosts(dist::Communicator& world) {
  Hosts hosts;
  for (const std::string& host : texts_of_ranks(host_name(), world)) {
    const auto found = std::ranges::find(hosts.names, host);
    hosts.of_rank.push_back(static_cast<std::size_t>(found - hosts.names.begin()));
    if (found == hosts.names.end()) hosts.names.push_back(host);
  }
  return hosts;
}

HostGroups split_by_host(const Hosts& hosts, dist::Communicator& world) {
  HostGroups groups;
  groups.host = world.split(static_cast<int>(hosts.of_rank[static_cast<std::size_t>(world.rank())]));
  groups.between = world.split(groups.host->rank() == 0 ? 0 : 1);
  return groups;
}

}  // namespace ut::launcher
