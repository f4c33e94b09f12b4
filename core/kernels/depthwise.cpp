#include "core/kernels/depthwise.h"

#include <ATen/ATen.h>
#include <ATen/Dispatch.h>
#include <ATen/Parallel.h>

#include <algorithm>
#include <vector>

#include "core/kernels/gpu_rows.h"
#include "core/kernels/row_kernels.h"
#include "dist/differentiable.h"

namespace ut::core {
namespace {

void sum_on_host(const at::Tensor& known, const at::Tensor& table, const at::Tensor& kernel, const at::Tensor& result) {
  const std::int64_t columns = known.size(1);
  const std::int64_t width = table.size(1);
  const auto* places = table.const_data_ptr<std::int64_t>();
  AT_DISPATCH_FLOATING_TYPES(known.scalar_type(), "depthwise", [&] {
    const auto* from = known.const_data_ptr<scalar_t>();
    const auto* weights = kernel.const_data_ptr<scalar_t>();
    auto* to = result.mutable_data_ptr<scalar_t>();
    at::parallel_for(0, table.size(0), rows_at_once(width * columns), [&](std::int64_t begin, std::int64_t end) {
      std::vector<Factors<scalar_t>> seen;
      for (std::int64_t row = begin; row < end; ++row) {
        seen.clear();
        for (std::int64_t place = 0; place < width; ++place)
          if (const std::int64_t there = places[row * width + place]; there >= 0)
            seen.push_back({from + there * columns, weights + place * columns});
        sum_of_products(std::span<const Factors<scalar_t>>(seen), to + row * columns,
                        static_cast<std::size_t>(columns));
      }
    });
  });
}

void kernel_gradient_on_host(const at::Tensor& known, const at::Tensor& table, const at::Tensor& gradient,
                             const at::Tensor& partial) {
  partial.zero_();
  const std::int64_t columns = known.size(1);
  const std::int64_t width = table.size(1);
  const auto* places = table.const_data_ptr<std::int64_t>();
  AT_DISPATCH_FLOATING_TYPES(known.scalar_type(), "depthwise_backward", [&] {
    const auto* from = known.const_data_ptr<scalar_t>();
    const auto* given = gradient.const_data_ptr<scalar_t>();
    auto* sums = partial.mutable_data_ptr<scalar_t>();
    at::parallel_for(0, partial.size(0), 1, [&](std::int64_t begin, std::int64_t end) {
      const std::int64_t last = std::min(table.size(0), end * rows_summed_at_once);
      for (std::int64_t look = begin * rows_summed_at_once * width; look < last * width; ++look) {
        if (places[look] < 0) continue;
        const std::int64_t chunk = look / width / rows_summed_at_once;
        add_products(given + look / width * columns, from + places[look] * columns,
                     sums + (chunk * width + look % width) * columns, static_cast<std::size_t>(columns));
      }
    });
  });
}

at::Tensor weighted_sum(const at::Tensor& known, const at::Tensor& table, const at::Tensor& kernel) {
  at::Tensor result = at::empty({table.size(0), known.size(1)}, known.options());
  const auto fill = known.is_cpu() ? sum_on_host : gpu_depthwise;
  fill(known, table, kernel, result);
  return result;
}

at::Tensor kernel_gradient(const at::Tensor& known, const at::Tensor& table, const at::Tensor& gradient) {
  const std::int64_t chunks = (table.size(0) + rows_summed_at_once - 1) / rows_summed_at_once;
  const at::Tensor partial = at::empty({chunks, table.size(1), known.size(1)}, known.options());
  const auto fill = known.is_cpu() ? kernel_gradient_on_host : gpu_depthwise_kernel_gradient;
  fill(known, table, gradient, partial);
  return partial.sum(0);
}

/// Which row sees a known one at each place: [known rows, width], -1 where none does.
at::Tensor seen_by(const at::Tensor& table, std::int64_t known_rows) {
  const at::Tensor rows = at::arange(table.size(0), table.options()).unsqueeze(1).expand(table.sizes());
  const at::Tensor seen = at::full({known_rows + 1, table.size(1)}, -1, table.options());
  seen.scatter_(0, at::where(table < 0, known_rows, table), rows);
  return seen.narrow(0, 0, known_rows);
}

/// Own and received rows one after the other. [known rows, c]
at::Tensor known_rows(const at::Tensor& rows, const at::Tensor& received) {
  return received.defined() ? at::cat({rows, received}) : rows.contiguous();
}

/// depthwise(), composed of LibTorch's operations.
at::Tensor composed(const dist::Neighbours& seen, const at::Tensor& kernel) {
  const at::Tensor known = known_rows(seen.rows, seen.received);
  const at::Tensor zeros = at::zeros({1, known.size(1)}, known.options());
  const at::Tensor places = at::where(seen.table < 0, known.size(0), seen.table).flatten();
  const at::Tensor windows = at::cat({known, zeros}).index_select(0, places);
  return (windows.view({seen.table.size(0), seen.table.size(1), known.size(1)}) * kernel).sum(1);
}

}  // namespace

at::Tensor depthwise(const dist::Neighbours& seen, const at::Tensor& kernel) {
  if (!has_row_kernels(seen.rows.device())) return composed(seen, kernel);
  const at::Tensor rows = seen.rows.detach();  // others keep it too, so keeping it for the backward pass needs no copy
  const at::Tensor received = seen.received.defined() ? seen.received.detach() : at::Tensor();
  const at::Tensor weights = kernel.detach();
  std::vector<at::Tensor> inputs{kernel, seen.rows};
  if (received.defined()) inputs.push_back(seen.received);
  return dist::with_backward(
      weighted_sum(known_rows(rows, received), seen.table, weights), inputs,
      [rows, received, table = seen.table, weights](const at::Tensor& given) {
        const at::Tensor gradient = given.contiguous();
        const at::Tensor known = known_rows(rows, received);
        const at::Tensor of_known = weighted_sum(gradient, seen_by(table, known.size(0)), weights);
        std::vector<at::Tensor> gradients{kernel_gradient(known, table, gradient), of_known.narrow(0, 0, rows.size(0))};
        if (received.defined()) gradients.push_back(of_known.narrow(0, rows.size(0), received.size(0)));
        return gradients;
      });
}

}  // namespace ut::core
