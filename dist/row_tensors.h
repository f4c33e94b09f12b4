#pragma once

#include <ATen/ATen.h>

#include <cstdint>
#include <functional>
#include <numeric>

/// What every communicator asks of the tensors that it moves.
namespace ut::dist {

inline std::int64_t bytes_of(const at::Tensor& tensor) { return static_cast<std::int64_t>(tensor.nbytes()); }

/// Elements in one row: the product of all dimensions but the first.
inline std::int64_t row_elements(const at::Tensor& rows) {
  return std::accumulate(rows.sizes().begin() + 1, rows.sizes().end(), std::int64_t{1}, std::multiplies<>());
}

/// So many rows that are like those of `like`, with nothing in them yet. Pinned where those are: what comes from a GPU
/// through pinned memory goes back that way.
inline at::Tensor new_rows(const at::Tensor& like, std::int64_t rows) {
  auto sizes = like.sizes().vec();
  sizes.at(0) = rows;
  return at::empty(sizes, like.options().pinned_memory(like.is_pinned()));
}

}  // namespace ut::dist
