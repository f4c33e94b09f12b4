#include "launcher/process/memory_use.h"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <sstream>

#include "launcher/process/control_groups.h"

namespace ut::launcher {
namespace {

rusage usage() {
  rusage so_far{};
  getrusage(RUSAGE_SELF, &so_far);
  return so_far;
}

}  // namespace

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
  return bytes;
}

std::int64_t page_faults() { return usage().ru_minflt; }

std::int64_t most_memory() { return 1024 * usage().ru_maxrss; }

}  // namespace ut::launcher
