#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <functional>
#include <span>

#include "dist/rows.h"
#include "dist/running_neighbours.h"
#include "dist/sequence_exchange.h"

namespace ut::core {

/// How far a convolution looks to each side.
struct Reach {
  std::int64_t before;
  std::int64_t after;
  std::int64_t width() const { return before + 1 + after; }
};

/// What two successive convolutions look at.
struct Windows {
  dist::Neighbours first;
  dist::Rows inner;  // the rows for which the first is computed
  /// The first's output [inner rows, c] -> what the second looks at for the local rows.
  std::function<dist::Neighbours(const at::Tensor&)> second;
};

/// The windows of `local` rows. `seen`: all positions, from 0, of the same sequences. `known` gives rows of these by
/// number, number[row] being that of row `row` of `seen`.
Windows windows_over(const dist::KnownRows& known, at::Device device, const dist::Rows& local, const dist::Rows& seen,
                     std::span<const std::int64_t> number, const Reach& first, const Reach& second);

}  // namespace ut::core
