#pragma once

#include <ATen/core/Tensor.h>

#include <functional>
#include <vector>

namespace ut::core {

using TensorFunction = std::function<at::Tensor(const std::vector<at::Tensor>&)>;

/// f(inputs), of which only the inputs are kept: the backward pass calls f again. f must then give the same result, and
/// what it uses must still be there. If f is collective, so is the backward pass. At least one input must require a
/// gradient. The gradients of parameters that f uses are added to their own buffers.
at::Tensor recomputed(const std::vector<at::Tensor>& inputs, const TensorFunction& f);

}  // namespace ut::core
