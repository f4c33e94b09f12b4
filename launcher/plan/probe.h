#pragma once

#include "core/options.h"
#include "dist/communicator.h"
#include "launcher/cost/cost_model.h"
#include "launcher/cost/machine_numbers.h"
#include "launcher/ranks/rank_hosts.h"

namespace ut::launcher {

/// Measures what the ranks' machines can do, all ranks at once, in a few seconds: operations of the sizes that this
/// work makes, a small update of its model, and collectives within a host and between hosts. A link that these ranks do
/// not use is assumed, as `source` says. GPUs are not measured: theirs are a data sheet's. Collective; the same numbers
/// on every rank.
MachineNumbers probe_machine(dist::Communicator& world, const Hosts& hosts, const Workload& work);

/// Of this rank alone: products, element-wise work and the like. Links are left as they are.
void probe_work(MachineNumbers& numbers, const core::ModelOptions& model);

/// What an update of the model takes, of some of the work, against what `numbers` have it take. While the other ranks
/// of the host do the same.
double probe_overhead(const MachineNumbers& numbers, const Workload& work);

/// Collectives of a group of at least two ranks. Collective; the same on each rank.
Link probe_link(dist::Communicator& group);

}  // namespace ut::launcher
