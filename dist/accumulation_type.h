#pragma once

#include <ATen/core/Tensor.h>

namespace ut::dist {

/// The type in which softmax and sums of values of `type` are computed: float32 for bfloat16, else `type` itself.
at::ScalarType accumulation_type(at::ScalarType type);
at::Tensor in_accumulation_type(const at::Tensor& x);

}  // namespace ut::dist
