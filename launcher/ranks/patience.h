#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>

namespace ut::launcher {

/// How long a rank waits for the others, given --timeout in seconds. mpirun takes two seconds to end the others once
/// one has given up; they must not say the same in that time.
inline std::chrono::seconds patience_of_rank(std::int64_t timeout, std::int64_t rank) {
  return std::chrono::seconds(timeout + 3 * std::min<std::int64_t>(rank, 5));
}

}  // namespace ut::launcher
