#pragma once

#include <cstdint>

namespace ut::base {

/// The numbers begin, …, end - 1.
struct Span {
  std::int64_t begin = 0;
  std::int64_t end = 0;
};

/// Part number `part` of 0, …, length - 1 in `parts` spans, as even as can be; empty for some where there are more
/// parts than numbers.
constexpr Span share(std::int64_t length, int part, int parts) {
  return {length * part / parts, length * (part + 1) / parts};
}

}  // namespace ut::base
