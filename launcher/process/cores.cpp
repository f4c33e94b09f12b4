#include "launcher/process/cores.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <thread>

namespace ut::launcher {
namespace {

namespace fs = std::filesystem;

const fs::path control_groups = "/sys/fs/cgroup";

std::string first_line(const fs::path& file) {
  std::ifstream in(file);
  std::string line;
  std::getline(in, line);
  return line;
}

/// The control group of this process, as its container sees it; of cgroup v2, of which there is one line.
fs::path own_group() {
  const std::string line = first_line("/proc/self/cgroup");
  const std::string begin = "0::/";
  return line.starts_with(begin) ? control_groups / line.substr(begin.size()) : control_groups;
}

}  // namespace

std::optional<std::int64_t> cores_of_quota(const std::string& cpu_max) {
  std::istringstream in(cpu_max);
  std::int64_t quota = 0;
  std::int64_t period = 0;
  if (!(in >> quota >> period) || quota <= 0 || period <= 0) return std::nullopt;
  return (quota + period - 1) / period;
}

std::int64_t usable_cores() {
  std::int64_t cores = std::max<std::int64_t>(1, std::thread::hardware_concurrency());
  for (fs::path group = own_group();; group = group.parent_path()) {
    cores = std::min(cores, cores_of_quota(first_line(group / "cpu.max")).value_or(cores));
    if (group.lexically_normal() == control_groups || !group.has_relative_path()) return cores;
  }
}

}  // namespace ut::launcher
