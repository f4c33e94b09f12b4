#include "launcher/process/memory_use.h"

#include <sys/resource.h>

namespace ut::launcher {
namespace {

rusage usage() {
  rusage so_far{};
  getrusage(RUSAGE_SELF, &so_far);
  return so_far;
}

}  // namespace

std::int64_t page_faults() { return usage().ru_minflt; }

std::int64_t most_memory() { return 1024 * usage().ru_maxrss; }

}  // namespace ut::launcher
