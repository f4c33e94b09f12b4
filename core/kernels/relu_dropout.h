#pragma once

#include <ATen/core/Tensor.h>

#include "core/kernels/dropout.h"

namespace ut::core {

/// dropout(relu(x + bias)) in one pass. `x` [rows, columns] is overwritten, so it must be a product that nothing else
/// uses. `bias` [columns]. The result itself says which elements were positive and kept, so the backward pass needs no
/// more.
at::Tensor relu_dropout(const at::Tensor& x, const at::Tensor& bias, double rate, const DropoutKey& key,
                        const dist::Rows& rows);

}  // namespace ut::core
