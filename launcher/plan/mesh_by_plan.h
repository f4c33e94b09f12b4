#pragma once

#include "datasets/task.h"
#include "dist/communicator.h"
#include "launcher/options/options.h"

namespace ut::launcher {

/// Returns the options with the open parts of the mesh (no --sequence-parallel, --exchange auto) chosen as `ut plan`
/// would for this model, batch and place, after a short probe. Rank 0 prints the choice. `task`: what is trained on;
/// null: the batch of `ut bench`. Nothing is measured if nothing is open, or if there is one rank, for which no choice
/// is recorded either; nor is one of the exchange if no sequence is cut. Collective; the same on every rank.
Options with_mesh_by_plan(const Options& options, const datasets::Task* task, dist::Communicator& world);

}  // namespace ut::launcher
