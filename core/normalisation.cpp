#include "core/normalisation.h"

#include <ATen/ATen.h>

namespace ut::core {

LayerNorm::LayerNorm(Parameters& parameters, const std::string& name, std::int64_t d_model)
    : scale_(parameters.add_constant(name + ".scale", {d_model}, 1)),
      bias_(parameters.add_constant(name + ".bias", {d_model}, 0)) {}

at::Tensor LayerNorm::operator()(const at::Tensor& x) const {
  return at::layer_norm(x, scale_.sizes(), scale_, bias_, 1e-6);
}

}  // namespace ut::core
