#pragma once

#include <cerrno>
#include <stdexcept>
#include <string>

namespace ut::launcher {

/// With what the system says of `error`.
std::runtime_error system_error(const std::string& what, int error = errno);
/// Of `error`: what a person is told where standard output cannot be written.
std::runtime_error output_error(int error);

}  // namespace ut::launcher
