#include "core/add_dropped.h"

#include <ATen/ATen.h>
#include <ATen/Dispatch.h>
#include <ATen/Parallel.h>
#include <ATen/core/grad_mode.h>
#include <torch/csrc/autograd/function.h>
#include <torch/csrc/autograd/functions/utils.h>
#include <torch/csrc/autograd/variable.h>

#include <span>
#include <utility>

#include "core/row_kernels.h"

namespace ut::core {
namespace {

class AddDroppedBackward final : public torch::autograd::Node {
 public:
  AddDroppedBackward(double rate, const DropoutKey& key, dist::Rows rows)
      : rate_(rate), key_(key), rows_(std::move(rows)) {}

  torch::autograd::variable_list apply(torch::autograd::variable_list&& gradients) override {
    if (!gradients[0].defined()) return {at::Tensor(), at::Tensor()};
    const at::NoGradGuard no_graph;
    return {gradients[0], dropout(gradients[0], rate_, key_, rows_)};
  }
  std::string name() const override { return "AddDroppedBackward"; }

 private:
  double rate_;
  DropoutKey key_;
  dist::Rows rows_;
};

at::Tensor sum_of_kept(const at::Tensor& x, const at::Tensor& y, double rate, const DropoutKey& key,
                       const dist::Rows& rows) {
  at::Tensor result = at::empty(x.sizes(), x.options());
  const std::int64_t columns = x.size(1);
  const auto count = static_cast<std::size_t>(columns);
  const auto* sequence = rows.sequence.const_data_ptr<std::int64_t>();
  const auto* position = rows.position.const_data_ptr<std::int64_t>();
  AT_DISPATCH_FLOATING_TYPES(x.scalar_type(), "add_dropped", [&] {
    const auto* left = x.const_data_ptr<scalar_t>();
    const auto* right = y.const_data_ptr<scalar_t>();
    auto* to = result.mutable_data_ptr<scalar_t>();
    const auto scale = static_cast<scalar_t>(1 / (1 - rate));
    at::parallel_for(0, x.size(0), 1 + 16384 / columns, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t row = begin; row < end; ++row) {
        keep_columns(row_draw(key, rate, sequence[row], position[row]), 0,
                     std::span<const scalar_t>(right + row * columns, count), scale, to + row * columns);
        add_row(left + row * columns, to + row * columns, count);
      }
    });
  });
  return result;
}

}  // namespace

at::Tensor add_dropped(const at::Tensor& x, const at::Tensor& y, double rate, const DropoutKey& key,
                       const dist::Rows& rows) {
  if (!key.active || rate == 0) return x + y;
  if (!x.is_cpu()) return x + dropout(y, rate, key, rows);
  at::Tensor result = sum_of_kept(x.detach().contiguous(), y.detach().contiguous(), rate, key, rows);
  if (!torch::autograd::compute_requires_grad(x, y)) return result;
  auto node = std::make_shared<AddDroppedBackward>(rate, key, rows);
  node->set_next_edges(torch::autograd::collect_next_edges(x, y));
  torch::autograd::create_gradient_edge(result, std::move(node));
  return result;
}

}  // namespace ut::core
