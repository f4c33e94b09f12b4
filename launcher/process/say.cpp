#include "launcher/process/say.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstdio>
#include <new>

#include "launcher/process/system_error.h"

namespace ut::launcher {

void say(const std::string& message) {
  std::fflush(stdout);
  const std::string line = fmt::format("ut: {}\n", message);
  std::fwrite(line.data(), 1, line.size(), stderr);
}

void print(const std::string& text) {
  if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size()) throw output_error(errno);
}

std::string cause_of(const std::exception& error) {
  if (dynamic_cast<const std::bad_alloc*>(&error) != nullptr) return "out of memory";
  const std::string said = error.what();
  if (said.find("DefaultCPUAllocator") != std::string::npos) return "out of memory";  // at this file and line, it adds
  return said.substr(0, said.find('\n'));
}

std::string rank_and_update(std::int64_t rank, const std::string& host, std::int64_t update) {
  return fmt::format("rank {} on host {}{}: ", rank, host, update < 0 ? "" : fmt::format(", after update {}", update));
}

}  // namespace ut::launcher
