#pragma once

#include <ATen/core/Tensor.h>

namespace ut::dist {

/// rows.index_select(0, index), of which the backward pass is a copy too: `rows` [n, c], `index` [m] int64, none twice.
at::Tensor select_rows(const at::Tensor& rows, const at::Tensor& index);

/// The same where `index` may name rows again, to fill places that nothing reads and whose gradient is zero. Place
/// read[i] is the one that counts of row number row[i]; neither names anything twice.
at::Tensor select_rows(const at::Tensor& rows, const at::Tensor& index, const at::Tensor& read, const at::Tensor& row);

}  // namespace ut::dist
