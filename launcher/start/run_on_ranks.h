#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "launcher/run/session.h"
#include "launcher/start/rank_environment.h"

namespace ut::launcher {

/// Runs a command as the rank, or the only process, that this program is: starts MPI if this process is a rank, makes
/// the mesh, and reads the data of the command's task if it has one. Returns the exit code. A rank that fails alone
/// says so in one line with its rank, host, update and cause, and ends the whole job.
int run_on_ranks(const Options& options, const RankEnvironment& environment,
                 const std::function<int(Session&)>& command);

/// For a rank whose options are refused, for example because it alone does not see a file or a run, while the others
/// may be in run_on_ranks(): tells them why, and one of them says it. Returns the exit code.
int refuse_on_ranks(const std::string& why, const RankEnvironment& environment);

/// Says in one line what happened to a rank. `update`: after which one it happened; -1 if none has begun.
void say_of_rank(std::int64_t rank, const std::string& host, std::int64_t update, const std::string& cause);

}  // namespace ut::launcher
