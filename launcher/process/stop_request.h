#pragma once

#include <span>

namespace ut::launcher {

/// What a training that was asked to stop exits with: EX_TEMPFAIL, to be gone on with.
inline constexpr int stopped_on_request = 75;

/// From now on these signals ask for a stop after the update or batch of an evaluation that is being worked on, instead
/// of ending the program. SIGUSR1 always does: it is what ranks get from the process that starts them. Another SIGINT,
/// a second or more after the first, ends the process at once. Threads that are made later hold them back, too; to be
/// called before there are any, once.
void catch_stop_requests(std::span<const int> signals);

/// SIGUSR1 is held from before the libraries set themselves up, which takes most of a second: a job's warning that
/// comes then is a request, too, once they are caught. Where nothing catches it, it is let through by this.
void release_stop_requests();

/// Whether this rank was asked to stop. The ranks agree on it at the end of an update and before a batch of an
/// evaluation.
bool stop_requested();

}  // namespace ut::launcher
