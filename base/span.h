#pragma once

#include <cstdint>

namespace ut::base {

/// The numbers begin, …, end - 1.
struct Span {
  std::int64_t begin = 0;
  std::int64_t end = 0;
};

/// Part number `part` of 0, …, length - 1, cut into `parts` spans as even as can be. Some spans are empty if there
/// are more parts than numbers. `rounding`, one of 0, …, parts - 1, chooses the parts that get one more. Vary it from
/// length to length: otherwise the same parts always get more.
constexpr Span share(std::int64_t length, int part, int parts, std::int64_t rounding = 0) {
  return {(length * part + rounding) / parts, (length * (part + 1) + rounding) / parts};
}

}  // namespace ut::base
