#pragma once

#include "core/options.h"
#include "dist/communicator.h"
#include "launcher/cost/cost_model.h"
#include "launcher/cost/machine_numbers.h"
#include "launcher/ranks/rank_hosts.h"

namespace ut::launcher {

/// Measures what the ranks' machines can do, on all ranks at once, in a few seconds: operations of the sizes that this
/// work makes, a small update of its model, and collectives within a host and between hosts. A link that these ranks do
/// not use is assumed, as `source` says. GPUs are not measured: their numbers come from a data sheet. Collective; the
/// same numbers on every rank.
MachineNumbers probe_machine(dist::Communicator& world, const Hosts& hosts, const Workload& work);

/// Measures this rank alone: products, element-wise work and the like. Leaves the links as they are.
void probe_work(MachineNumbers& numbers, const core::ModelOptions& model);

/// The time of an update of a small part of the work, divided by the time that `numbers` predict for it. The other
/// ranks of the host are to measure at the same time.
double probe_overhead(const MachineNumbers& numbers, const Workload& work);

/// Measures collectives of a group of at least two ranks. Collective; the same on each rank.
Link probe_link(dist::Communicator& group);

}  // namespace ut::launcher
