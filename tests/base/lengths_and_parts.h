#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdint>

namespace ut::base {

/// Calls check(length, parts) for lengths 0 to 64 and 1 to 9 parts.
template <class Check>
void for_lengths_and_parts(const Check& check) {
  for (std::int64_t length = 0; length <= 64; ++length)
    for (int parts = 1; parts <= 9; ++parts) {
      SCOPED_TRACE(fmt::format("length {}, {} parts", length, parts));
      check(length, parts);
    }
}

}  // namespace ut::base
