#pragma once

#include <ATen/core/Tensor.h>

#include "core/kernels/dropout.h"

namespace ut::core {

/// dropout(relu(x + bias)) of `x` [rows, columns], a product that nothing else uses: it is overwritten, in one
/// pass. The result itself says which elements were positive and kept, so that the backward pass needs no more.
at::Tensor relu_dropout(const at::Tensor& x, const at::Tensor& bias, double rate, const DropoutKey& key,
                        const dist::Rows& rows);

}  // namespace ut::core
