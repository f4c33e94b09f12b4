#pragma once

#include <cstdint>

namespace ut::launcher {

/// How many pages this process was given so far.
std::int64_t page_faults();

/// The most bytes of the host's memory that this process has had so far.
std::int64_t most_memory();

}  // namespace ut::launcher
