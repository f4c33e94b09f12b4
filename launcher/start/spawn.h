#pragma once

#include "launcher/start/spawn_request.h"
#include "launcher/start/waiting_signals.h"

namespace ut::launcher {

/// Runs this program again as `ranks` ranks under mpirun, and waits. The signals reach all ranks as SIGUSR1. A second
/// SIGINT ends the ranks at once, and mpirun after five seconds if it has not ended. If this process dies, so do they.
/// SIGTERM and SIGINT that go to every process of the job act as if they went to this process alone.
/// Returns the code that the first rank to fail ended with, or 0; 1, after a line on standard error, if a signal ended
/// a rank (the line has its number, its host and the last update recorded) or a host was lost. Throws base::BadInput if
/// mpirun is missing or has no room.
int run_under_mpirun(const SpawnRequest& request, const WaitingSignals& signals);

}  // namespace ut::launcher
