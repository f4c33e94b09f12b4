#pragma once

#include <functional>

#include "base/error.h"
#include "dist/communicator.h"
#include "launcher/session.h"
#include "launcher/spawn.h"

namespace ut::launcher {

/// Bad input that every rank knows of and throws: one of them says it, all end.
class AgreedBadInput : public base::BadInput {
 public:
  using base::BadInput::BadInput;
};

/// Runs `step` on every rank. Where it throws base::BadInput on any, all throw AgreedBadInput with the message of the
/// first, so that no rank goes on alone. Collective.
void agree(dist::Communicator& world, const std::function<void()>& step);

/// Runs a command as the rank, or the only process, that this program is: starts MPI where it is around, makes the
/// mesh, reads the data of the command's task if it has one. Returns the exit code. Where a rank fails alone, it says
/// so in one line with its rank, host, update and cause, and ends the whole job.
int run_on_ranks(const Options& options, const RankEnvironment& environment,
                 const std::function<int(Session&)>& command);

}  // namespace ut::launcher
