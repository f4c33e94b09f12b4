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

at::ScalarType exact_type(at::ScalarType type) { return type == at::kBFloat16 ? at::kFloat : type; }

at::Tensor exact(const at::Tensor& x) { return x.to(exact_type(x.scalar_type())); }

}  // namespace ut::core
