#pragma once

#include <ATen/core/Tensor.h>

#include <string>

#include "base/span.h"
#include "core/options.h"
#include "core/parameters.h"

namespace ut::core {

/// The learned projections of multi-head attention (equations 2 and 3), without biases as in the authors' code.
/// Queries, keys and values are of the products' type (core/products.h).
class Attention {
 public:
  /// For self-attention: the weights of queries, keys and values are one parameter.
  static Attention over_self(Parameters& parameters, const std::string& name, const ModelOptions& options);
  /// For attention over the rows of a memory.
  static Attention over_memory(Parameters& parameters, const std::string& name, const ModelOptions& options);

  at::Tensor queries(const at::Tensor& x) const;      // [rows, d] -> [rows, d]
  at::Tensor keys_values(const at::Tensor& x) const;  // [rows, d] -> keys beside values [rows, 2d]
  /// `x` in the products' type: the products read no more of it, so no more has to be sent.
  at::Tensor to_product_type(const at::Tensor& x) const { return x.to(type_); }
  /// Heads' outputs [rows, d] -> [rows, d], by W^O.
  at::Tensor combine(const at::Tensor& heads) const;

 private:
  /// Some columns of a parameter.
  struct Weights {
    at::Tensor parameter;
    base::Span columns;
  };

  Attention(at::ScalarType type, Weights query, Weights key_value, at::Tensor output);

  at::ScalarType type_;  // of products
  Weights query_;        // [d, d]
  Weights key_value_;    // [d, 2d]
  at::Tensor output_;    // [d, d]
};

}  // namespace ut::core
