#pragma once

#include <string>

namespace ut::launcher {

/// All of standard input. Throws base::BadInput if it cannot be read to its end.
std::string read_standard_input();

/// For a process that passes standard input on. Throws base::BadInput if it is closed, or open for writing only.
void check_standard_input();

}  // namespace ut::launcher
