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

/// What two convolutions one after the other look at.
struct Windows {
  dist::Neighbours first;
  dist::Rows inner;  // where the first is needed
  /// What the first gives [inner rows, c] -> what the second, of the local rows, looks at.
  std::function<dist::Neighbours(const at::Tensor&)> second;
};

/// The windows of `local` rows over `known` ones: number[row] is the number by which those give each of the rows
/// `seen`, all positions of the same sequences, from 0.
Windows windows_over(const dist::KnownRows& known, at::Device device, const dist::Rows& local, const dist::Rows& seen,
                     std::span<const std::int64_t> number, const Reach& first, const Reach& second);

}  // namespace ut::core
