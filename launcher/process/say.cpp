#include "launcher/process/say.h"

#include <fmt/format.h>

#include <cstdio>

namespace ut::launcher {

void say(const std::string& message) {
  std::fflush(stdout);
  const std::string line = fmt::format("ut: {}\n", message);
  std::fwrite(line.data(), 1, line.size(), stderr);
}

}  // namespace ut::launcher
