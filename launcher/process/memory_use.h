#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace ut::launcher {

/// How many bytes a control group's `memory.max` allows; nothing if it sets no limit ("max") or has another form.
std::optional<std::int64_t> bytes_of_limit(const std::string& memory_max);

/// The bytes of memory that the processes of this host may have together: all of it, or less if a container says so.
std::int64_t usable_memory();

/// How many pages this process was given so far.
std::int64_t page_faults();

/// The most bytes of the host's memory that this process has had so far.
std::int64_t most_memory();

}  // namespace ut::launcher
