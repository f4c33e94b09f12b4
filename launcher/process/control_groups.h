#pragma once

#include <functional>
#include <string>

namespace ut::launcher {

/// Calls use(line) with the first line of this file in each control group of this process that has it, such as
/// "cpu.max", from the innermost group to the outermost that its container sees (cgroup v2). Each may set a limit.
void for_each_control_group(const std::string& file, const std::function<void(const std::string& line)>& use);

/// The first line of this file of the container's control groups of version 1, such as "cpu/cpu.cfs_quota_us"; empty if
/// there is none.
std::string of_old_control_group(const std::string& file);

}  // namespace ut::launcher
