#include "core/attention.h"

#include <utility>

#include "core/products.h"

namespace ut::core {
namespace {

at::Tensor add_kernel(Parameters& parameters, const std::string& name, std::int64_t d, std::int64_t products) {
  return parameters.add_kernel(name, {d, products * d}, d, d);
}

}  // namespace

Attention::Attention(at::ScalarType type, Weights query, Weights key_value, at::Tensor output)
    : type_(type), query_(std::move(query)), key_value_(std::move(key_value)), output_(std::move(output)) {}

Attention Attention::over_self(Parameters& parameters, const std::string& name, const ModelOptions& options) {
  const std::int64_t d = options.d_model;
  const at::Tensor all = add_kernel(parameters, name + ".query_key_value", d, 3);
  const at::Tensor output = add_kernel(parameters, name + ".output", d, 1);
  return {product_type(options), {all, {0, d}}, {all, {d, 3 * d}}, output};
}

Attention Attention::over_memory(Parameters& parameters, const std::string& name, const ModelOptions& options) {
  const std::int64_t d = options.d_model;
  const at::Tensor query = add_kernel(parameters, name + ".query", d, 1);
  const at::Tensor key_value = add_kernel(parameters, name + ".key_value", d, 2);
  const at::Tensor output = add_kernel(parameters, name + ".output", d, 1);
  return {product_type(options), {query, {0, d}}, {key_value, {0, 2 * d}}, output};
}

at::Tensor Attention::queries(const at::Tensor& x) const {
  return multiply(x, query_.parameter, query_.columns, type_);
}

at::Tensor Attention::keys_values(const at::Tensor& x) const {
  return multiply(x, key_value_.parameter, key_value_.columns, type_);
}

at::Tensor Attention::combine(const at::Tensor& heads) const {
  return multiply(heads, output_, {type_, output_.scalar_type()});
}

}  // namespace ut::core
