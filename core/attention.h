#pragma once

#include <ATen/core/Tensor.h>

#include <string>

#include "base/span.h"
#include "core/options.h"
#include "core/parameters.h"

namespace ut::core {

/// Multi-head attention without biases, as the authors have it: what is learned of it. Queries, keys and values are of
/// the products' type.
class Attention {
 public:
  /// Of rows over themselves: queries, keys and values are of one product's weights.
  static Attention over_self(Parameters& parameters, const std::string& name, const ModelOptions& options);
  /// Of rows over those of a memory.
  static Attention over_memory(Parameters& parameters, const std::string& name, const ModelOptions& options);

  at::Tensor queries(const at::Tensor& x) const;      // [rows, d] -> [rows, d]
  at::Tensor keys_values(const at::Tensor& x) const;  // [rows, d] -> keys beside values [rows, 2d]
  /// Rows in the products' type: the products read no more of them, so no more has to be sent.
  at::Tensor as_factor(const at::Tensor& x) const { return x.to(type_); }
  /// Heads' outputs [rows, d] -> [rows, d].
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
