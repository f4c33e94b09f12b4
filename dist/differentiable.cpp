#include "dist/differentiable.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>
#include <torch/csrc/autograd/function.h>
#include <torch/csrc/autograd/functions/utils.h>
#include <torch/csrc/autograd/variable.h>

#include <functional>
#include <utility>

namespace ut::dist {
namespace {

/// An autograd node whose backward pass is a function of ours.
class FunctionBackward final : public torch::autograd::Node {
 public:
  FunctionBackward(Backward backward, const at::Tensor& output)
      : backward_(std::move(backward)), sizes_(output.sizes().vec()), options_(output.options()) {}

  torch::autograd::variable_list apply(torch::autograd::variable_list&& gradients) override {
    const at::NoGradGuard no_graph;
    // A rank must take part in a collective even if nothing depended on its rows.
    return backward_(gradients[0].defined() ? gradients[0] : at::zeros(sizes_, options_));
  }
  void release_variables() override { backward_ = nullptr; }  // frees what it captured as soon as it has run
  std::string name() const override { return "FunctionBackward"; }

 private:
  Backward backward_;
  std::vector<std::int64_t> sizes_;
  at::TensorOptions options_;
};

}  // namespace

at::Tensor with_backward(const at::Tensor& output, const std::vector<at::Tensor>& inputs, Backward backward) {
  if (!torch::autograd::compute_requires_grad(at::TensorList(inputs))) return output;
  at::Tensor result = output.detach();  // the node may keep the output itself
  // Frees a long chain of nodes one after the other; by default each would free the next within its destructor.
  const std::shared_ptr<FunctionBackward> node(
      std::make_unique<FunctionBackward>(std::move(backward), output).release(), torch::autograd::deleteNode);
  node->set_next_edges(torch::autograd::collect_next_edges(at::TensorList(inputs)));
  torch::autograd::create_gradient_edge(result, node);
  return result;
}

at::Tensor call_in_backward(const at::Tensor& x, const std::function<void()>& function) {
  return with_backward(x, {x}, [function](const at::Tensor& gradient) {
    function();
    return std::vector<at::Tensor>{gradient};
  });
}

at::Tensor differentiable(const at::Tensor& input, const Function& forward, Function backward) {
  at::Tensor output;
  {
    const at::NoGradGuard no_graph;
    output = forward(input.detach());
  }
  return with_backward(output, {input}, [backward = std::move(backward)](const at::Tensor& gradient) {
    return std::vector<at::Tensor>{backward(gradient)};
  });
}

at::Tensor all_to_all(const at::Tensor& rows, std::vector<std::int64_t> sent, std::vector<std::int64_t> received,
                      Communicator& group) {
  if (group.size() == 1) return rows;
  return differentiable(
      rows, [&](const at::Tensor& out) { return group.all_to_all_rows(out, sent, received, Purpose::exchange); },
      [&group, sent, received](const at::Tensor& gradient) {
        return group.all_to_all_rows(gradient, received, sent, Purpose::exchange);
      });
}

at::Tensor all_sum(const at::Tensor& values, Communicator& group) {
  if (group.size() == 1) return values;
  const auto all_reduce = [&group](const at::Tensor& mine) {
    at::Tensor total = mine.clone(at::MemoryFormat::Contiguous);
    group.all_reduce_sum(total, Purpose::exchange);
    return total;
  };
  return differentiable(values, all_reduce, all_reduce);
}

}  // namespace ut::dist
