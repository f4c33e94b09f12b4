#pragma once

#include <string>
#include <vector>

#include "dist/communicator.h"
#include "launcher/ranks/rank_hosts.h"

namespace ut::launcher {

/// One thing that `ut doctor` looked at.
struct Finding {
  std::string subject;
  std::string seen;
  std::string remedy;  // empty: nothing is at fault

  bool is_well() const { return remedy.empty(); }
};

Finding find_ranks(const Hosts& hosts);
/// The MPI library, the programs that start ranks, and whether they fit together, on this host.
Finding find_mpi();
/// The library that multiplies matrices on this host, and whether it can be loaded.
Finding find_products();
/// GPUs, CUDA and NCCL: whether this rank can use its host's GPUs, and whether every host has the same number of them.
/// Collective.
Finding find_accelerators(dist::Communicator& world);
/// Whether the ranks' threads have cores of their own. Collective.
Finding find_cores(const Hosts& hosts, dist::Communicator& world);
/// Latency and bandwidth within this rank's host and between hosts, if there are ranks to measure with. Collective.
std::vector<Finding> find_links(const Hosts& hosts, dist::Communicator& world);
/// Whether every rank sees what rank 0 writes to `directory`, and may write there. Leaves nothing behind: directories
/// made on the way are removed too. Collective.
Finding find_directory(const std::string& directory, dist::Communicator& world);

}  // namespace ut::launcher
