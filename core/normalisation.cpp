#include "core/normalisation.h"

#include <ATen/ATen.h>

#include <vector>

#include "core/kernels/add_dropped.h"
#include "core/kernels/gpu_rows.h"
#include "core/kernels/normalised_sum.h"
#include "dist/differentiable.h"

namespace ut::core {
namespace {

constexpr double norm_epsilon = 1e-6;

}  // namespace

LayerNorm::LayerNorm(Parameters& parameters, const std::string& name, std::int64_t d_model)
    : scale_(parameters.add_constant(name + ".scale", {d_model}, 1)),
      bias_(parameters.add_constant(name + ".bias", {d_model}, 0)) {}

at::Tensor LayerNorm::operator()(const at::Tensor& x) const {
  return at::layer_norm(x, scale_.sizes(), scale_, bias_, norm_epsilon);
}

at::Tensor LayerNorm::of_sum(const at::Tensor& x, const at::Tensor& y, double rate, const DropoutKey& key,
                             const dist::Rows& rows) const {
  if (!has_row_kernels(x.device()) || x.scalar_type() != y.scalar_type())
    return (*this)(add_dropped(x, y, rate, key, rows));
  const double dropped = key.active ? rate : 0;
  const NormalisedSum made =
      normalised_sum(x.detach().contiguous(), y.detach().contiguous(), scale_.detach(), bias_.detach(), norm_epsilon,
                     dropped, dropout_draw(key, dropped), identities_of(rows, x.device()));
  return dist::with_backward(
      made.output, {x, y, scale_, bias_},
      [made = NormalisedSum{{}, made.normalised, made.factor}, scale = scale_.detach(), dropped, key,
       rows](const at::Tensor& gradient) {
        const auto [of_sum, of_parameters] = normalised_sum_backward(made, scale, gradient.contiguous());
        return std::vector{of_sum, dropout(of_sum, dropped, key, rows), of_parameters[0], of_parameters[1]};
      });
}

}  // namespace ut::core
