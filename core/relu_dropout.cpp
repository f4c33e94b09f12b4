#include "core/relu_dropout.h"

#include <ATen/ATen.h>
#include <ATen/Dispatch.h>
#include <ATen/Parallel.h>
#include <ATen/core/grad_mode.h>
#include <torch/csrc/autograd/function.h>
#include <torch/csrc/autograd/functions/utils.h>
#include <torch/csrc/autograd/variable.h>

#include <span>

#include "core/row_kernels.h"

namespace ut::core {
namespace {

/// Rows that one thread takes at least.
std::int64_t grain(std::int64_t columns) { return 1 + 32768 / std::max<std::int64_t>(1, columns); }

class ReluDropoutBackward final : public torch::autograd::Node {
 public:
  at::Tensor output;  // without a graph: it would hold this node, and this node it
  double scale = 1;   // of what was kept

  torch::autograd::variable_list apply(torch::autograd::variable_list&& gradients) override {
    if (!gradients[0].defined()) return {at::Tensor(), at::Tensor()};
    const at::NoGradGuard no_graph;
    const at::Tensor given = gradients[0].contiguous();
    at::Tensor result = at::empty_like(given);
    const std::int64_t columns = given.size(1);
    AT_DISPATCH_FLOATING_TYPES(given.scalar_type(), "relu_dropout_backward", [&] {
      const auto* made = output.const_data_ptr<scalar_t>();
      const auto* from = given.const_data_ptr<scalar_t>();
      auto* to = result.mutable_data_ptr<scalar_t>();
      at::parallel_for(0, given.size(0), grain(columns), [&](std::int64_t begin, std::int64_t end) {
        const std::int64_t first = begin * columns;
        scale_where_positive(made + first, from + first, static_cast<scalar_t>(scale), to + first,
                             static_cast<std::size_t>((end - begin) * columns));
      });
    });
    return {result, result.sum(0)};
  }
  std::string name() const override { return "ReluDropoutBackward"; }
};

void overwrite(const at::Tensor& x, const at::Tensor& bias, double rate, const DropoutKey& key,
               const dist::Rows& rows) {
  const std::int64_t columns = x.size(1);
  const auto* sequence = rows.sequence.const_data_ptr<std::int64_t>();
  const auto* position = rows.position.const_data_ptr<std::int64_t>();
  AT_DISPATCH_FLOATING_TYPES(x.scalar_type(), "relu_dropout", [&] {
    const auto* add = bias.const_data_ptr<scalar_t>();
    auto* all = static_cast<scalar_t*>(x.data_ptr());
    const auto scale = static_cast<scalar_t>(1 / (1 - rate));
    at::parallel_for(0, x.size(0), grain(columns), [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t row = begin; row < end; ++row) {
        scalar_t* of_row = all + row * columns;
        add_bias_and_relu(of_row, add, static_cast<std::size_t>(columns));
        if (rate > 0)
          keep_columns(row_draw(key, rate, sequence[row], position[row]), 0,
                       std::span<const scalar_t>(of_row, static_cast<std::size_t>(columns)), scale, of_row);
      }
    });
  });
}

}  // namespace

at::Tensor relu_dropout(const at::Tensor& x, const at::Tensor& bias, double rate, const DropoutKey& key,
                        const dist::Rows& rows) {
  if (!x.is_cpu() || !x.is_contiguous()) return dropout(at::relu(x + bias), rate, key, rows);
  const double dropped = key.active ? rate : 0;
  at::Tensor output = x.detach();
  overwrite(output, bias.detach(), dropped, key, rows);
  if (!torch::autograd::compute_requires_grad(x, bias)) return output;
  auto node = std::make_shared<ReluDropoutBackward>();
  node->output = output.detach();
  node->scale = 1 / (1 - dropped);
  node->set_next_edges(torch::autograd::collect_next_edges(x, bias));
  torch::autograd::create_gradient_edge(output, std::move(node));
  return output;
}

}  // namespace ut::core
