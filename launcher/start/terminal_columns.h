#pragma once

#include <cstdint>

#include "launcher/start/rank_environment.h"

namespace ut::launcher {

/// Where terminal_columns() finds what the starting `ut` saw.
inline constexpr const char* terminal_variable = "UT_TERMINAL";

/// Width of the terminal that standard output is, or 0 where it is none. Under mpirun what the starting `ut` saw:
/// there a rank's standard output always looks like a terminal.
std::int64_t terminal_columns(const Environment& get);

}  // namespace ut::launcher
