#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

#include "base/philox.h"

namespace ut::base {

/// Puts `values`, which have size() and [], in random order: all orders are equally likely.
template <class Values>
void shuffle(Values& values, Random& random) {
  for (std::size_t left = values.size(); left > 1; --left)
    std::swap(values[left - 1],
              values[static_cast<std::size_t>(random.uniform(0, static_cast<std::int64_t>(left) - 1))]);
}

}  // namespace ut::base
