#include "core/relu_dropout.h"

#include <ATen/ATen.h>
#include <ATen/Dispatch.h>
#include <ATen/Parallel.h>

#include <span>
#include <vector>

#include "core/row_kernels.h"
#include "dist/differentiable.h"

namespace ut::core {
namespace {

/// `gradient` of `output` where that is positive, times `scale`.
at::Tensor way_back(const at::Tensor& output, const at::Tensor& gradient, double scale) {
  const at::Tensor given = gradient.contiguous();
  at::Tensor result = at::empty_like(given);
  const std::int64_t columns = given.size(1);
  AT_DISPATCH_FLOATING_TYPES(given.scalar_type(), "relu_dropout_backward", [&] {
    const auto* made = output.const_data_ptr<scalar_t>();
    const auto* from = given.const_data_ptr<scalar_t>();
    auto* to = result.mutable_data_ptr<scalar_t>();
    at::parallel_for(0, given.size(0), rows_at_once(columns), [&](std::int64_t begin, std::int64_t end) {
      const std::int64_t first = begin * columns;
      scale_where_positive(made + first, from + first, static_cast<scalar_t>(scale), to + first,
                           static_cast<std::size_t>((end - begin) * columns));
    });
  });
  return result;
}

void overwrite(const at::Tensor& x, const at::Tensor& bias, double rate, const DropoutKey& key,
               const dist::Rows& rows) {
  const std::int64_t columns = x.size(1);
  const auto* sequence = rows.sequence.const_data_ptr<std::int64_t>();
  const auto* position = rows.position.const_data_ptr<std::int64_t>();
  AT_DISPATCH_FLOATING_TYPES(x.scalar_type(), "relu_dropout", [&] {
    const auto* add = bias.const_data_ptr<scalar_t>();
    auto* all = static_cast<scalar_t*>(x.data_ptr());
    const auto scale = static_cast<scalar_t>(1 / (1 - rate));
    at::parallel_for(0, x.size(0), rows_at_once(columns), [&](std::int64_t begin, std::int64_t end) {
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
  const at::Tensor output = x.detach();
  overwrite(output, bias.detach(), dropped, key, rows);
  return dist::with_backward(output, {x, bias}, [made = output, scale = 1 / (1 - dropped)](const at::Tensor& gradient) {
    const at::Tensor of_x = way_back(made, gradient, scale);
    return std::vector{of_x, of_x.sum(0)};
  });
}

}  // namespace ut::core
