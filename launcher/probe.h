#pragma once

#include "core/options.h"
#include "dist/communicator.h"
#include "launcher/machine_numbers.h"
#include "launcher/rank_hosts.h"

namespace ut::launcher {

/// Measures what the ranks' machines can do, all ranks at once, in a second or two: operations of the sizes that this
/// model makes, and collectives within a host and between hosts. A link that these ranks do not use is assumed, as
/// `source` says. Collective; the same numbers on every rank.
MachineNumbers probe_machine(dist::Communicator& world, const Hosts& hosts, const core::ModelOptions& model);

/// Of this rank alone: products, element-wise work and the like. Links are left as they are.
void probe_work(MachineNumbers& numbers, const core::ModelOptions& model);

/// Collectives of a group of at least two ranks. Collective; the same on each rank.
Link probe_link(dist::Communicator& group);

/// Cores of this host, whichever of them this process may use.
std::int64_t cores_of_host();

}  // namespace ut::launcher
