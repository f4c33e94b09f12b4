#pragma once

#include <cstdint>

#include "launcher/start/rank_environment.h"

namespace ut::launcher {

/// The variable that tells terminal_columns() what the starting `ut` saw.
inline constexpr const char* terminal_variable = "UT_TERMINAL";

/// Width of the terminal that standard output is, 80 if unknown; 0 if it is no terminal. Under mpirun, what the
/// starting `ut` saw, because there a rank's standard output always looks like a terminal.
std::int64_t terminal_columns(const Environment& get);

}  // namespace ut::launcher
