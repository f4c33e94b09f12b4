#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace ut::launcher {

/// The cores' time that a control group's `cpu.max` leaves ("150000 100000": of each 100 ms one and a half), rounded
/// up; nothing where it sets no limit ("max 100000") or says something else.
std::optional<std::int64_t> cores_of_quota(const std::string& cpu_max);

/// Cores of this host, whichever of them this process may use.
std::int64_t cores_of_host();

/// The cores that this process may run on, as words of bits, as many words on every host.
std::vector<std::int64_t> allowed_cores();
std::int64_t count_cores(const std::vector<std::int64_t>& words);

/// What this process may use: the cores that it may run on or, where its container has less time, as many as that would
/// keep busy. At least 1.
std::int64_t usable_cores();

}  // namespace ut::launcher
