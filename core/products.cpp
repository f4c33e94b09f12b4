#include "core/products.h"

#include <ATen/ATen.h>

#include "core/parameters.h"

namespace ut::core {

at::ScalarType product_type(const ModelOptions& options) {
  return options.bfloat16_products ? at::kBFloat16 : scalar_type(options.precision);
}

at::Tensor multiply(const at::Tensor& x, const at::Tensor& w, at::ScalarType type) {
  return at::mm(x.to(type), w.to(type));
}

at::Tensor multiply_add(const at::Tensor& bias, const at::Tensor& x, const at::Tensor& w, at::ScalarType type) {
  return type == bias.scalar_type() ? at::addmm(bias, x, w) : multiply(x, w, type) + bias;
}

at::Tensor for_statistics(const at::Tensor& x) { return x.scalar_type() == at::kBFloat16 ? x.to(at::kFloat) : x; }

}  // namespace ut::core
