#include "core/recompute.h"

#include <ATen/core/grad_mode.h>
#include <torch/csrc/autograd/autograd.h>

#include "dist/differentiable.h"

namespace ut::core {
namespace {

/// The same tensors without their graph. `want_gradient` says which of them require a gradient.
std::vector<at::Tensor> leaves(const std::vector<at::Tensor>& tensors, const std::vector<bool>& want_gradient) {
  std::vector<at::Tensor> result;
  for (std::size_t index = 0; index < tensors.size(); ++index)
    result.push_back(tensors[index].detach().requires_grad_(want_gradient[index]));
  return result;
}

std::vector<at::Tensor> recomputed_backward(const std::vector<at::Tensor>& inputs,
                                            const std::vector<bool>& want_gradient, const TensorFunction& f,
                                            const at::Tensor& gradient) {
  const std::vector<at::Tensor> again = leaves(inputs, want_gradient);
  {
    const at::AutoGradMode graph(true);
    const at::Tensor made = f(again);  // may depend on none of them, as with random halting
    if (made.requires_grad()) torch::autograd::backward({made}, {gradient});
  }
  std::vector<at::Tensor> gradients;
  for (const at::Tensor& leaf : again) gradients.push_back(leaf.grad());
  return gradients;
}

}  // namespace

at::Tensor recomputed(const std::vector<at::Tensor>& inputs, const TensorFunction& f) {
  if (!at::GradMode::is_enabled()) return f(inputs);
  std::vector<bool> want_gradient;
  for (const at::Tensor& input : inputs) want_gradient.push_back(input.requires_grad());
  const std::vector<at::Tensor> kept = leaves(inputs, std::vector<bool>(inputs.size(), false));
  at::Tensor output;
  {
    const at::NoGradGuard no_graph;
    output = f(kept);
  }
  return dist::with_backward(output, inputs, [=](const at::Tensor& gradient) {
    return recomputed_backward(kept, want_gradient, f, gradient);
  });
}

}  // namespace ut::core
