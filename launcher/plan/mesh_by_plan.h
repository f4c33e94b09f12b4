#pragma once

#include "datasets/task.h"
#include "dist/communicator.h"
#include "launcher/options/options.h"

namespace ut::launcher {

/// The options with what they leave open of the mesh (no --sequence-parallel, --exchange auto) as `ut plan` would have
/// it for this model, batch and place, after a short probe; says on rank 0 what was chosen. `task` is what is trained
/// on; none: the batch of `ut bench`. Where nothing is open, or one rank has no choice, nothing is measured, and in the
/// latter case nothing recorded.
/// Collective; the same on every rank.
Options with_mesh_by_plan(const Options& options, const datasets::Task* task, dist::Communicator& world);

}  // namespace ut::launcher
