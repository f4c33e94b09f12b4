#include "core/normalisation.h"

#include <ATen/ATen.h>
#include <ATen/Dispatch.h>
#include <ATen/Parallel.h>

#include <algorithm>
#include <span>
#include <vector>

#include "core/add_dropped.h"
#include "core/keep_columns.h"
#include "core/row_kernels.h"
#include "dist/differentiable.h"

namespace ut::core {
namespace {

constexpr double epsilon = 1e-6;
constexpr std::int64_t rows_summed_at_once = 64;  // so that sums over rows do not depend on the number of threads

/// What the normalisation of a sum leaves behind.
struct NormalisedSum {
  at::Tensor output;      // [rows, d]
  at::Tensor normalised;  // [rows, d]: before scale and bias
  at::Tensor factor;      // [rows]: 1 / sqrt(variance + epsilon)
};

NormalisedSum normalised_sum(const at::Tensor& x, const at::Tensor& y, const at::Tensor& scale, const at::Tensor& bias,
                             double rate, const RowDraw& draw, const RowIdentities& identities) {
  NormalisedSum made{at::empty(x.sizes(), x.options()), at::empty(x.sizes(), x.options()),
                     at::empty({x.size(0)}, x.options())};
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
  return made;
}

/// Gradients of the sum [rows, d], and of scale and bias [2, d].
std::pair<at::Tensor, at::Tensor> way_back_of_sum(const NormalisedSum& made, const at::Tensor& scale,
                                                  const at::Tensor& gradient) {
  const at::Tensor given = gradient.contiguous();
  at::Tensor of_sum = at::empty_like(given);
  const std::int64_t rows = given.size(0);
  const std::int64_t columns = given.size(1);
  const auto count = static_cast<std::size_t>(columns);
  const std::int64_t chunks = (rows + rows_summed_at_once - 1) / rows_summed_at_once;
  const at::Tensor partial = at::zeros({chunks, 2, columns}, given.options());
  AT_DISPATCH_FLOATING_TYPES(given.scalar_type(), "normalised_sum_backward", [&] {
    const auto* from = given.const_data_ptr<scalar_t>();
    const auto* normalised = made.normalised.const_data_ptr<scalar_t>();
    const auto* factor = made.factor.const_data_ptr<scalar_t>();
    const auto* scales = scale.const_data_ptr<scalar_t>();
    auto* to = of_sum.mutable_data_ptr<scalar_t>();
    auto* sums = partial.mutable_data_ptr<scalar_t>();
    at::parallel_for(0, chunks, 1, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t row = begin * rows_summed_at_once; row < std::min(rows, end * rows_summed_at_once); ++row) {
        const std::int64_t first = row * columns;
        scalar_t* of_chunk = sums + row / rows_summed_at_once * 2 * columns;
        normalise_back(normalised + first, factor[row], scales, from + first, to + first, count);
        add_products(from + first, normalised + first, of_chunk, count);
        add_row(from + first, of_chunk + columns, count);
      }
    });
  });
  return {of_sum, partial.sum(0)};
}

}  // namespace

LayerNorm::LayerNorm(Parameters& parameters, const std::string& name, std::int64_t d_model)
    : scale_(parameters.add_constant(name + ".scale", {d_model}, 1)),
      bias_(parameters.add_constant(name + ".bias", {d_model}, 0)) {}

at::Tensor LayerNorm::operator()(const at::Tensor& x) const {
  return at::layer_norm(x, scale_.sizes(), scale_, bias_, epsilon);
}

at::Tensor LayerNorm::of_sum(const at::Tensor& x, const at::Tensor& y, double rate, const DropoutKey& key,
                             const dist::Rows& rows) const {
  if (!x.is_cpu() || x.scalar_type() != y.scalar_type()) return (*this)(add_dropped(x, y, rate, key, rows));
  const double dropped = key.active ? rate : 0;
  const NormalisedSum made =
      normalised_sum(x.detach().contiguous(), y.detach().contiguous(), scale_.detach(), bias_.detach(), dropped,
                     row_draw(key, dropped), identities_of(rows, x.device()));
  return dist::with_backward(
      made.output, {x, y, scale_, bias_},
      [made = NormalisedSum{{}, made.normalised, made.factor}, scale = scale_.detach(), dropped, key,
       rows](const at::Tensor& gradient) {
        const auto [of_sum, of_parameters] = way_back_of_sum(made, scale, gradient);
        return std::vector{of_sum, dropout(of_sum, dropped, key, rows), of_parameters[0], of_parameters[1]};
      });
}

}  // namespace ut::core
