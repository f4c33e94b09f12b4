#include "core/kernels/normalised_sum.h"

#include <ATen/ATen.h>
#include <ATen/Dispatch.h>
#include <ATen/Parallel.h>

#include <algorithm>
#include <span>

#include "core/kernels/gpu_rows.h"
#include "core/kernels/keep_columns.h"
#include "core/kernels/row_kernels.h"

namespace ut::core {
namespace {

void on_host(const at::Tensor& x, const at::Tensor& y, const at::Tensor& scale, const at::Tensor& bias, double epsilon,
             double rate, const DropoutDraw& draw, const RowIdentities& identities, const NormalisedSum& made) {
  const std::int64_t columns = x.size(1);
  const auto count = static_cast<std::size_t>(columns);
  AT_DISPATCH_FLOATING_TYPES(x.scalar_type(), "normalised_sum", [&] {
    const auto* left = x.const_data_ptr<scalar_t>();
    const auto* right = y.const_data_ptr<scalar_t>();
    const auto* scales = scale.const_data_ptr<scalar_t>();
    const auto* biases = bias.const_data_ptr<scalar_t>();
    auto* output = made.output.mutable_data_ptr<scalar_t>();
    auto* normalised = made.normalised.mutable_data_ptr<scalar_t>();
    auto* factor = made.factor.mutable_data_ptr<scalar_t>();
    const auto kept = static_cast<scalar_t>(1 / (1 - rate));
    at::parallel_for(0, x.size(0), rows_at_once(columns), [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t row = begin; row < end; ++row) {
        scalar_t* of_row = normalised + row * columns;
        const std::span<const scalar_t> added(right + row * columns, count);
        if (rate > 0)
          keep_columns(identities.of(row, draw).draw, 0, added, kept, of_row);
        else
          std::ranges::copy(added, of_row);
        add_row(left + row * columns, of_row, count);
        factor[row] = normalise(of_row, count, static_cast<scalar_t>(epsilon));
        scale_and_add(of_row, scales, biases, output + row * columns, count);
      }
    });
  });
}

void backward_on_host(const NormalisedSum& made, const at::Tensor& scale, const at::Tensor& given,
                      const at::Tensor& of_sum, const at::Tensor& partial) {
  partial.zero_();
  const std::int64_t rows = given.size(0);
  const std::int64_t columns = given.size(1);
  const auto count = static_cast<std::size_t>(columns);
  AT_DISPATCH_FLOATING_TYPES(given.scalar_type(), "normalised_sum_backward", [&] {
    const auto* from = given.const_data_ptr<scalar_t>();
    const auto* normalised = made.normalised.const_data_ptr<scalar_t>();
    const auto* factor = made.factor.const_data_ptr<scalar_t>();
    const auto* scales = scale.const_data_ptr<scalar_t>();
    auto* to = of_sum.mutable_data_ptr<scalar_t>();
    auto* sums = partial.mutable_data_ptr<scalar_t>();
    at::parallel_for(0, partial.size(0), 1, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t row = begin * rows_summed_at_once; row < std::min(rows, end * rows_summed_at_once); ++row) {
        const std::int64_t first = row * columns;
        scalar_t* of_chunk = sums + row / rows_summed_at_once * 2 * columns;
        normalise_backward(normalised + first, factor[row], scales, from + first, to + first, count);
        add_products(from + first, normalised + first, of_chunk, count);
        add_row(from + first, of_chunk + columns, count);
      }
    });
  });
}

}  // namespace

NormalisedSum normalised_sum(const at::Tensor& x, const at::Tensor& y, const at::Tensor& scale, const at::Tensor& bias,
                             double epsilon, double rate, const DropoutDraw& draw, const RowIdentities& identities) {
  NormalisedSum made{at::empty(x.sizes(), x.options()), at::empty(x.sizes(), x.options()),
                     at::empty({x.size(0)}, x.options())};
  const auto fill = x.is_cpu() ? on_host : gpu_normalised_sum;
  fill(x, y, scale, bias, epsilon, rate, draw, identities, made);
  return made;
}

NormalisedSumGradients normalised_sum_backward(const NormalisedSum& made, const at::Tensor& scale,
                                               const at::Tensor& gradient) {
  const std::int64_t chunks = (gradient.size(0) + rows_summed_at_once - 1) / rows_summed_at_once;
  const at::Tensor of_sum = at::empty(gradient.sizes(), gradient.options());
  const at::Tensor partial = at::empty({chunks, 2, gradient.size(1)}, gradient.options());
  const auto fill = gradient.is_cpu() ? backward_on_host : gpu_normalised_sum_backward;
  fill(made, scale, gradient, of_sum, partial);
  return {of_sum, partial.sum(0)};
}

}  // namespace ut::core
