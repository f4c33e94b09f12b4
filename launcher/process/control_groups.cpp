#include "launcher/process/control_groups.h"

#include <filesystem>
#include <fstream>

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

/// With cgroup v2 the process's own file has one line.
fs::path own_group() {
  const std::string line = first_line("/proc/self/cgroup");
  const std::string begin = "0::/";
  return line.starts_with(begin) ? control_groups / line.substr(begin.size()) : control_groups;
}

}  // namespace

void for_each_control_group(const std::string& file, const std::function<void(const std::string& line)>& use) {
  for (fs::path group = own_group();; group = group.parent_path()) {
    if (const std::string line = first_line(group / file); !line.empty()) use(line);
    if (group.lexically_normal() == control_groups || !group.has_relative_path()) return;
  }
}

std::string of_old_control_group(const std::string& file) { return first_line(control_groups / file); }

}  // namespace ut::launcher
