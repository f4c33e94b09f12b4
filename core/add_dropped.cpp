#include "core/add_dropped.h"

#include <ATen/ATen.h>
#include <ATen/Dispatch.h>
#include <ATen/Parallel.h>

#include <span>
#include <vector>

#include "core/row_kernels.h"
#include "dist/differentiable.h"

namespace ut::core {
namespace {

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
    at::parallel_for(0, x.size(0), rows_at_once(columns), [&](std::int64_t begin, std::int64_t end) {
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
  return dist::with_backward(sum_of_kept(x.detach().contiguous(), y.detach().contiguous(), rate, key, rows), {x, y},
                             [=](const at::Tensor& gradient) {
                               return std::vector{gradient, dropout(gradient, rate, key, rows)};
                             });
}

}  // namespace ut::core
