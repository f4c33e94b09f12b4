#pragma once

#include <ATen/core/Tensor.h>

#include "core/kernels/dropout.h"

namespace ut::core {

/// x + dropout(y), both [rows, columns], in one pass.
at::Tensor add_dropped(const at::Tensor& x, const at::Tensor& y, double rate, const DropoutKey& key,
                       const dist::Rows& rows);

}  // namespace ut::core
