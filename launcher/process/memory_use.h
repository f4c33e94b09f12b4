#pragma once

#include <cstdint>

namespace ut::launcher {

/// Pages that this process was given so far.
std::int64_t page_faults();

/// Bytes of the host's memory that this process had at the most so far.
std::int64_t most_memory();

}  // namespace ut::launcher
