#pragma once

#include <functional>

#include "launcher/run/session.h"
#include "launcher/start/rank_environment.h"

namespace ut::launcher {

/// Runs a command as the rank, or the only process, that this program is: starts MPI where it is around, makes the
/// mesh, reads the data of the command's task if it has one. Returns the exit code. Where a rank fails alone, it says
/// so in one line with its rank, host, update and cause, and ends the whole job.
int run_on_ranks(const Options& options, const RankEnvironment& environment,
                 const std::function<int(Session&)>& command);

}  // namespace ut::launcher
