#include "launcher/process/say.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <new>
#include <string_view>

#include "launcher/process/readable.h"
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
  const std::string message = error.what();
  if (message.find("DefaultCPUAllocator") != std::string::npos) {  // LibTorch adds its file and line
    constexpr std::string_view before_size = "tried to allocate ";
    const auto place = message.find(before_size);
    if (place == std::string::npos) return "out of memory";
    return fmt::format("out of memory: {} more asked for",
                       readable(std::strtod(message.c_str() + place + before_size.size(), nullptr), "B"));
  }
  return message.substr(0, message.find('\n'));
}

std::string rank_and_update(std::int64_t rank, const std::string& host, std::int64_t update) {
  return fmt::format("rank {} on host {}{}: ", rank, host, update < 0 ? "" : fmt::format(", after update {}", update));
}

}  // namespace ut::launcher
