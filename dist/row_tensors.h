#pragma once

#include <ATen/ATen.h>

#include <cstdint>
#include <functional>
#include <numeric>

/// What every communicator needs to know of the tensors that it moves.
namespace ut::dist {

inline std::int64_t bytes_of(const at::Tensor& tensor) { return static_cast<std::int64_t>(tensor.nbytes()); }

/// Elements in one row: the product of all dimensions but the first.
inline std::int64_t row_elements(const at::Tensor& rows) {
  return std::accumulate(rows.sizes().begin() + 1, rows.sizes().end(), std::int64_t{1}, std::multiplies<>());
}

/// An uninitialised tensor of `rows` rows like those of `like`. Pinned if `like` is: what comes from a GPU through
/// pinned memory goes back that way.
inline at::Tensor new_rows(const at::Tensor& like, std::int64_t rows) {
  auto sizes = like.sizes().vec();
  sizes.at(0) = rows;
  return at::empty(sizes, like.options().pinned_memory(like.is_pinned()));
}

}  // namespace ut::dist
