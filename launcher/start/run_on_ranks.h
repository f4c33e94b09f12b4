#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "launcher/run/session.h"
#include "launcher/start/rank_environment.h"

namespace ut::launcher {

/// Runs a command as the rank, or the only process, that this program is: starts MPI where it is around, makes the
/// mesh, reads the data of the command's task if it has one. Returns the exit code. Where a rank fails alone, it says
/// so in one line with its rank, host, update and cause, and ends the whole job.
int run_on_ranks(const Options& options, const RankEnvironment& environment,
                 const std::function<int(Session&)>& command);

/// What a rank does whose options are refused, as those of a file or a run that it alone does not see, while the others
/// may be at run_on_ranks(): tells them why, and one of them says it. Returns the exit code.
int refuse_on_ranks(const std::string& why, const RankEnvironment& environment);

/// Says in one line what happened to a rank; `update`: after which, -1 where none has begun.
void say_of_rank(std::int64_t rank, const std::string& host, std::int64_t update, const std::string& cause);

}  // namespace ut::launcher
