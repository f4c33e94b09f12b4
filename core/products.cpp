#include "core/products.h"

#include <ATen/ATen.h>

#include "core/parameters.h"
#include "dist/differentiable.h"

namespace ut::core {
namespace {

at::Tensor some_columns(const at::Tensor& w, const dist::Span& columns) {
  return w.narrow(1, columns.begin, columns.end - columns.begin);
}

/// Gradients of x, of w and of what was added to x w, from that of the result.
std::vector<at::Tensor> way_back_of_product(const at::Tensor& x, const at::Tensor& w, const dist::Span& columns,
                                            const at::Tensor& gradient, bool has_bias) {
  const at::Tensor of_x = at::mm(gradient, some_columns(w.detach(), columns).t());
  some_columns(w.grad(), columns).addmm_(x.t(), gradient);
  if (!has_bias) return {of_x, {}};
  return {of_x, {}, gradient.sum(0)};
}

bool keeps_gradient(const at::Tensor& w) { return w.is_leaf() && w.grad().defined(); }

}  // namespace

at::ScalarType product_type(const ModelOptions& options) {
  return options.bfloat16_products ? at::kBFloat16 : scalar_type(options.precision);
}

at::Tensor multiply(const at::Tensor& x, const at::Tensor& w, at::ScalarType type) {
  return multiply(x, w, {0, w.size(1)}, type);
}

at::Tensor multiply(const at::Tensor& x, const at::Tensor& parameter, const dist::Span& columns, at::ScalarType type) {
  const at::Tensor used = some_columns(parameter, columns);
  if (type != parameter.scalar_type() || !keeps_gradient(parameter)) return at::mm(x.to(type), used.to(type));
  return dist::with_backward(at::mm(x.detach(), used.detach()), {x, parameter},
                             [seen = x.detach(), parameter, columns](const at::Tensor& gradient) {
                               return way_back_of_product(seen, parameter, columns, gradient, false);
                             });
}

at::Tensor multiply_add(const at::Tensor& bias, const at::Tensor& x, const at::Tensor& w, at::ScalarType type) {
  if (type != bias.scalar_type()) return multiply(x, w, type) + bias;
  if (!keeps_gradient(w)) return at::addmm(bias, x, w);
  return dist::with_backward(at::addmm(bias.detach(), x.detach(), w.detach()), {x, w, bias},
                             [seen = x.detach(), w](const at::Tensor& gradient) {
                               return way_back_of_product(seen, w, {0, w.size(1)}, gradient, true);
                             });
}

at::ScalarType exact_type(at::ScalarType type) { return type == at::kBFloat16 ? at::kFloat : type; }

at::Tensor exact(const at::Tensor& x) { return x.to(exact_type(x.scalar_type())); }

}  // namespace ut::core
