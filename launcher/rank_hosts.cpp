#include "launcher/rank_hosts.h"

#include <ATen/ATen.h>
#include <unistd.h>

#include <algorithm>
#include <array>

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
  constexpr std::int64_t most = 256;
  at::Tensor mine = at::zeros({1, most}, at::kByte);
  const std::string name = host_name();
  std::ranges::copy(name, mine.mutable_data_ptr<std::uint8_t>());
  const std::vector<std::int64_t> one_each(static_cast<std::size_t>(world.size()), 1);
  const at::Tensor all = world.all_gather_rows(mine, one_each, dist::Purpose::control).contiguous();
  const auto* text = reinterpret_cast<const char*>(all.const_data_ptr<std::uint8_t>());
  Hosts hosts;
  for (std::int64_t rank = 0; rank < world.size(); ++rank) {
    const std::string host = text + rank * most;
    const auto found = std::ranges::find(hosts.names, host);
    hosts.of_rank.push_back(static_cast<std::size_t>(found - hosts.names.begin()));
    if (found == hosts.names.end()) hosts.names.push_back(host);
  }
  return hosts;
}

}  // namespace ut::launcher
