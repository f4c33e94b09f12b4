#include "core/kernels/add_dropped.h"

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

at::Tensor sum_of_kept(const at::Tensor& x, const at::Tensor& y, double rate, const DropoutDraw& draw,
                       const RowIdentities& identities) {
  at::Tensor result = at::empty(x.sizes(), x.options());
  const std::int64_t columns = x.size(1);
  const auto count = static_cast<std::size_t>(columns);
  AT_DISPATCH_FLOATING_TYPES(x.scalar_type(), "add_dropped", [&] {
    const auto* left = x.const_data_ptr<scalar_t>();
    const auto* right = y.const_data_ptr<scalar_t>();
    auto* to = result.mutable_data_ptr<scalar_t>();
    const auto scale = static_cast<scalar_t>(1 / (1 - rate));
    at::parallel_for(0, x.size(0), rows_at_once(columns), [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t row = begin; row < end; ++row) {
        keep_columns(identities.of(row, draw).draw, 0, std::span<const scalar_t>(right + row * columns, count), scale,
                     to + row * columns);
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
  if (!has_row_kernels(x.device())) return x + dropout(y, rate, key, rows);
  const auto in_one_pass = x.is_cpu() ? sum_of_kept : gpu_add_dropped;
  const at::Tensor sum = in_one_pass(x.detach().contiguous(), y.detach().contiguous(), rate, dropout_draw(key, rate),
                                     identities_of(rows, x.device()));
  return dist::with_backward(sum, {x, y}, [=](const at::Tensor& gradient) {
    return std::vector{gradient, dropout(gradient, rate, key, rows)};
  });
}

}  // namespace ut::core
