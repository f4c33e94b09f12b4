#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace ut::launcher {

/// How many cores' time a control group's `cpu.max` allows ("150000 100000": 150 of each 100 ms, one and a half cores),
/// rounded up; nothing if it sets no limit ("max 100000") or has another form.
std::optional<std::int64_t> cores_of_quota(const std::string& cpu_max);

/// The cores of this host, whether or not this process may use them.
std::int64_t cores_of_host();

/// The cores that this process may run on, as bits in 64-bit words; every host has the same number of words.
std::vector<std::int64_t> allowed_cores();
std::int64_t count_cores(const std::vector<std::int64_t>& words);

/// How many cores this process can keep busy: those that it may run on, or fewer if its container has less time. At
/// least 1.
std::int64_t usable_cores();

}  // namespace ut::launcher
