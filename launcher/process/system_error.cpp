#include "launcher/process/system_error.h"

#include <fmt/format.h>

#include <cstring>

namespace ut::launcher {

std::runtime_error system_error(const std::string& what, int error) {
  return std::runtime_error(fmt::format("{}: {}", what, std::strerror(error)));
}

std::runtime_error output_error(int error) { return system_error("standard output: cannot be written", error); }

}  // namespace ut::launcher
