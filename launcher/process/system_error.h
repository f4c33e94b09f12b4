#pragma once

#include <cerrno>
#include <stdexcept>
#include <string>

namespace ut::launcher {

/// `what`, with the system's message for `error`.
std::runtime_error system_error(const std::string& what, int error = errno);
/// What a person is told if standard output cannot be written because of `error`.
std::runtime_error output_error(int error);

}  // namespace ut::launcher
