#include "launcher/process/cores.h"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <sstream>

#include "launcher/process/control_groups.h"

namespace ut::launcher {
std::optional<std::int64_t> cores_of_quota(const std::string& cpu_max) {
  std::istringstream in(cpu_max);
  std::int64_t quota = 0;
  std::int64_t period = 0;
  if (!(in >> quota >> period) || quota <= 0 || period <= 0) return std::nullopt;
  return (quota + period - 1) / period;
}

std::int64_t cores_of_host() { return std::max<std::int64_t>(1, ::sysconf(_SC_NPROCESSORS_ONLN)); }

std::vector<std::int64_t> allowed_cores() {
  constexpr int most = 8192;  // Linux has no more
  std::vector<std::int64_t> words(most / 64, 0);
  std::vector<cpu_set_t> sets(most / CPU_SETSIZE);  // the kernel refuses fewer than the machine may have
  const std::size_t bytes = sets.size() * sizeof(cpu_set_t);
  if (::sched_getaffinity(0, bytes, sets.data()) != 0) return words;
  for (int core = 0; core < most; ++core)
    if (CPU_ISSET_S(core, bytes, sets.data()))
      words[static_cast<std::size_t>(core / 64)] |= std::int64_t{1} << core % 64;
  return words;
}

std::int64_t count_cores(const std::vector<std::int64_t>& words) {
  std::int64_t cores = 0;
  for (const std::int64_t word : words) cores += std::popcount(static_cast<std::uint64_t>(word));
  return cores;
}

std::int64_t usable_cores() {
  std::int64_t cores = std::max<std::int64_t>(1, count_cores(allowed_cores()));
  const auto limit = [&cores](const std::string& quota) {
    cores = std::min(cores, cores_of_quota(quota).value_or(cores));
  };
  for_each_control_group("cpu.max", limit);
  limit(of_old_control_group("cpu/cpu.cfs_quota_us") + " " + of_old_control_group("cpu/cpu.cfs_period_us"));
  return cores;
}

}  // namespace ut::launcher
