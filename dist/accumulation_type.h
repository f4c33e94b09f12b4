#pragma once

#include <ATen/core/Tensor.h>

namespace ut::dist {

/// In which type softmax and sums are computed of what is of `type`: at least float32.
at::ScalarType accumulation_type(at::ScalarType type);
at::Tensor in_accumulation_type(const at::Tensor& x);

}  // namespace ut::dist
