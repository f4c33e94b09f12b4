#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "dist/communicator.h"

namespace ut::launcher {

/// This machine's name, cut after 255 characters.
std::string host_name();

/// Where the ranks run.
struct Hosts {
  std::vector<std::string> names;    // each host once, in the order of their first ranks
  std::vector<std::size_t> of_rank;  // [ranks]: the index of its host's name
  std::int64_t most_ranks() const;   // of one host
};

/// The hosts of all ranks. Collective; the same on every rank.
Hosts find_hosts(dist::Communicator& world);

struct HostGroups {
  std::unique_ptr<dist::Communicator> host;     // the ranks of this rank's host
  std::unique_ptr<dist::Communicator> between;  // the first ranks of the hosts; on other ranks, all those others
};
/// Collective.
HostGroups split_by_host(const Hosts& hosts, dist::Communicator& world);

}  // namespace ut::launcher
