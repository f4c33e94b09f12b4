#pragma once

#include <csignal>
#include <span>

namespace ut::launcher {

/// A set of these signals.
sigset_t signal_set(std::span<const int> numbers);

/// Whether one of the set waits to be taken.
bool is_pending(const sigset_t& signals);

}  // namespace ut::launcher
