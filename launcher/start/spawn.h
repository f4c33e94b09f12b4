#pragma once

#include "launcher/start/spawn_request.h"
#include "launcher/start/waiting_signals.h"

namespace ut::launcher {

/// Runs this program again as `ranks` ranks under mpirun, and waits. The signals reach all ranks as SIGUSR1; a second
/// SIGINT ends them at once, and mpirun five seconds later where it does not end. If this process dies, so do they.
/// SIGTERM and SIGINT that go to every process of the job are as one to this process.
/// Returns the code that the first rank to fail ended with, or 0; 1, after a line on standard error, where a signal
/// ended a rank (with its number, host and the last update recorded) or a host was lost. Throws base::BadInput where
/// mpirun is missing or has no room.
int run_under_mpirun(const SpawnRequest& request, const WaitingSignals& signals);

}  // namespace ut::launcher
