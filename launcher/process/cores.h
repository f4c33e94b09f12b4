#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace ut::launcher {

/// The cores' time that a control group's `cpu.max` leaves ("150000 100000": of each 100 ms one and a half), rounded
/// up; nothing where it sets no limit ("max 100000") or says something else.
std::optional<std::int64_t> cores_of_quota(const std::string& cpu_max);

/// What this process may use: the cores of its affinity or, where its container has less time, as many as that would
/// keep busy. At least 1.
std::int64_t usable_cores();

}  // namespace ut::launcher
