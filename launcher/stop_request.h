#pragma once

namespace ut::launcher {

/// From now on SIGTERM, SIGUSR1 (a batch system's warning) and SIGINT ask for a stop after the update that is being
/// worked on, instead of ending the program at once.
void catch_stop_requests();

/// Whether this rank was asked to stop. The ranks agree on it at the end of an update.
bool stop_requested();

}  // namespace ut::launcher
