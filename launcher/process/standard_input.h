#pragma once

#include <string>

namespace ut::launcher {

/// All of standard input. Throws base::BadInput where it cannot be read to its end.
std::string read_standard_input();

/// For whoever gives it on to be read. Throws base::BadInput where it is closed, or open for writing only.
void check_standard_input();

}  // namespace ut::launcher
