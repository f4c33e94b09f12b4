#pragma once

#include <span>

namespace ut::launcher {

/// The exit code of a training that was asked to stop: EX_TEMPFAIL, because it can go on later.
inline constexpr int stopped_on_request = 75;

/// From now on these signals ask for a stop after the current update, or batch of an evaluation, instead of ending the
/// program. SIGUSR1 always does: the process that starts the ranks sends it to them. Another SIGINT, a second or more
/// after the first, ends the process at once. Threads that are made later hold these signals back, too: call this once,
/// before there are any.
void catch_stop_requests(std::span<const int> signals);

/// Lets SIGUSR1 through in a program that does not catch it. It is held from before the libraries set themselves up,
/// which takes most of a second, so that a job's warning in that time becomes a request once requests are caught.
void release_stop_requests();

/// Whether this rank was asked to stop. The ranks agree on stopping before the first update, at the end of an update
/// and before a batch of an evaluation.
bool stop_requested();

}  // namespace ut::launcher
