#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <span>

namespace ut::dist {

// Indices are on the same device as the rows.

/// rows.index_select(0, index), of which the backward pass is a copy too. `rows` [n, c]; `index` [m] int64, no row
/// twice.
at::Tensor select_rows(const at::Tensor& rows, const at::Tensor& index);

/// The same if `index` may name rows again, to fill places that nothing reads and whose gradient is zero. The gradient
/// of row gradient_row[i] is that of place gradient_place[i]. Both are [n] int64, or undefined for i itself, and name
/// nothing twice.
at::Tensor select_rows(const at::Tensor& rows, const at::Tensor& index, const at::Tensor& gradient_place,
                       const at::Tensor& gradient_row);

/// to[index[i]] += rows[i]: `index` [n] int64, `rows` [n, c]. Adds part after part; `parts` are their lengths. No part
/// may name a row twice, so that a device adds in the same order each time. No graph is made.
void add_rows(const at::Tensor& to, const at::Tensor& index, const at::Tensor& rows,
              std::span<const std::int64_t> parts);

/// Where 0, 1, …, n - 1 stand in `order` [n] int64, a permutation of them: the inverse permutation [n] int64.
at::Tensor inverse_permutation(const at::Tensor& order);

/// to[to_row[i]] = from[from_row[i]]. Both indices are [n] int64, or undefined for i itself. `to` is contiguous and is
/// seen as rows of the length of those of `from` [rows, c]. No graph is made.
void copy_rows(const at::Tensor& to, const at::Tensor& to_row, const at::Tensor& from, const at::Tensor& from_row);

}  // namespace ut::dist
