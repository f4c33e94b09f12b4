#include "launcher/process/memory_use.h"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <sstream>
#include <string>

#include "launcher/process/control_groups.h"

namespace ut::launcher {

std::optional<std::int64_t> bytes_of_limit(const std::string& memory_max) {
  std::int64_t bytes = 0;
  if (!(std::istringstream(memory_max) >> bytes) || bytes <= 0) return std::nullopt;
  return bytes;
}

std::int64_t usable_memory() {
  std::int64_t bytes = ::sysconf(_SC_PHYS_PAGES) * ::sysconf(_SC_PAGESIZE);
  for_each_control_group("memory.max", [&bytes](const std::string& limit) {
    bytes = std::min(bytes, bytes_of_limit(limit).value_or(bytes));
  });
  bytes = std::min(bytes, bytes_of_limit(of_old_control_group("memory/memory.limit_in_bytes")).value_or(bytes));
  return bytes;
}

std::int64_t page_faults() {
  rusage so_far{};
  getrusage(RUSAGE_SELF, &so_far);
  return so_far.ru_minflt;
}

std::int64_t most_memory() {
  // Not getrusage()'s maximum, to which that of the program that has started this one counts, too.
  std::ifstream status("/proc/self/status");
  std::int64_t kibibytes = 0;
  for (std::string word; status >> word;)
    if (word == "VmHWM:" && status >> kibibytes) break;
  return 1024 * kibibytes;
}

}  // namespace ut::launcher
