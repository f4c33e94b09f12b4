#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <span>

namespace ut::dist {

// Indices are where the rows are.

/// rows.index_select(0, index), of which the backward pass is a copy too: `rows` [n, c], `index` [m] int64, none twice.
at::Tensor select_rows(const at::Tensor& rows, const at::Tensor& index);

/// The same where `index` may name rows again, to fill places that nothing reads and whose gradient is zero. Place
/// read[i] is the one that counts of row number row[i], both [n] int64 or undefined for i itself; neither names
/// anything twice.
at::Tensor select_rows(const at::Tensor& rows, const at::Tensor& index, const at::Tensor& read, const at::Tensor& row);

/// to[index[i]] += rows[i] [n, c], part after part, whose lengths are `parts` and none of which names a row twice: a
/// device adds them up in the same order each time, then. `index` [n] int64. No graph is made.
void add_rows(const at::Tensor& to, const at::Tensor& index, const at::Tensor& rows,
              std::span<const std::int64_t> parts);

/// Where each of `order` [n] int64, which names 0 to n - 1 once each, has 0, 1, …: [n] int64.
at::Tensor places_in(const at::Tensor& order);

/// to[to_row[i]] = from[from_row[i]], both [n] int64 or undefined for i itself. `to` is contiguous and is seen as rows
/// as long as those of `from` [rows, c]. No graph is made.
void copy_rows(const at::Tensor& to, const at::Tensor& to_row, const at::Tensor& from, const at::Tensor& from_row);

}  // namespace ut::dist
