#include "core/kernels/relu_dropout.h"

#include <ATen/ATen.h>
#include <ATen/Dispatch.h>
#include <ATen/Parallel.h>

#include <span>
#include <vector>

#include "core/kernels/gpu_rows.h"
#include "core/kernels/keep_columns.h"
#include "core/kernels/row_kernels.h"
#include "dist/differentiable.h"

namespace ut::core {
namespace {

/// `gradient` of `output` where that is positive, times `scale`.
at::Tensor cpu_scale_where_positive(const at::Tensor& output, const at::Tensor& gradient, double scale) {
  at::Tensor result = at::empty_like(gradient);
  const std::int64_t columns = gradient.size(1);
  AT_DISPATCH_FLOATING_TYPES(gradient.scalar_type(), "relu_dropout_backward", [&] {
    const auto* made = output.const_data_ptr<scalar_t>();
    const auto* from = gradient.const_data_ptr<scalar_t>();
    auto* to = result.mutable_data_ptr<scalar_t>();
    at::parallel_for(0, gradient.size(0), rows_at_once(columns), [&](std::int64_t begin, std::int64_t end) {
      const std::int64_t first = begin * columns;
      scale_where_positive(made + first, from + first, static_cast<scalar_t>(scale), to + first,
                           static_cast<std::size_t>((end - begin) * columns));
    });
  });
  return result;
}

void overwrite(const at::Tensor& x, const at::Tensor& bias, double rate, const DropoutDraw& draw,
               const RowIdentities& identities) {
  const std::int64_t columns = x.size(1);
  AT_DISPATCH_FLOATING_TYPES(x.scalar_type(), "relu_dropout", [&] {
    const auto* add = bias.const_data_ptr<scalar_t>();
    auto* all = static_cast<scalar_t*>(x.data_ptr());
    const auto scale = static_cast<scalar_t>(1 / (1 - rate));
    at::parallel_for(0, x.size(0), rows_at_once(columns), [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t row = begin; row < end; ++row) {
        scalar_t* of_row = all + row * columns;
        add_bias_and_relu(of_row, add, static_cast<std::size_t>(columns));
        if (rate > 0)
          keep_columns(identities.of(row, draw).draw, 0,
                       std::span<const scalar_t>(of_row, static_cast<std::size_t>(columns)), scale, of_row);
      }
    });
  });
}

}  // namespace

at::Tensor relu_dropout(const at::Tensor& x, const at::Tensor& bias, double rate, const DropoutKey& key,
                        const dist::Rows& rows) {
  if (!has_row_kernels(x.device()) || !x.is_contiguous()) return dropout(at::relu(x + bias), rate, key, rows);
  const double dropped = key.active ? rate : 0;
  const at::Tensor output = x.detach();
  const auto in_one_pass = x.is_cpu() ? overwrite : gpu_relu_dropout;
  in_one_pass(output, bias.detach(), dropped, dropout_draw(key, dropped), identities_of(rows, x.device()));
  return dist::with_backward(output, {x, bias}, [made = output, scale = 1 / (1 - dropped)](const at::Tensor& gradient) {
    const auto back = made.is_cpu() ? cpu_scale_where_positive : gpu_scale_where_positive;
    const at::Tensor of_x = back(made, gradient.contiguous(), scale);
    return std::vector{of_x, of_x.sum(0)};
  });
}

}  // namespace ut::core
