#pragma once

#include <ATen/core/Tensor.h>

#include <functional>
#include <vector>

namespace ut::core {

using OfTensors = std::function<at::Tensor(const std::vector<at::Tensor>&)>;

/// f(inputs), of which nothing is kept but the inputs: the backward pass does f again. It must give the same then, and
/// what it uses must still be there; where it is collective, so is the backward pass. At least one input wants a
/// gradient; the gradients of f's parameters are added where they are kept.
at::Tensor recomputed(const std::vector<at::Tensor>& inputs, const OfTensors& f);

}  // namespace ut::core
