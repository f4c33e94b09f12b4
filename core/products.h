#pragma once

#include <ATen/core/Tensor.h>

#include "base/span.h"
#include "core/options.h"

namespace ut::core {

/// The type in which a model multiplies matrices: that of its parameters, or bfloat16. With bfloat16, sums within a
/// product are float32, and so is everything that is not a product: parameters, states, norms, softmax, sums over steps
/// and ranks.
at::ScalarType product_type(const ModelOptions& options);

/// The matrix product a b, without an autograd graph: float32 on the host by core/kernels/gemm.h, else by LibTorch.
at::Tensor product(const at::Tensor& a, const at::Tensor& b);

/// into += a b. `into` or its transpose is stored row by row; it may be of another type than a and b.
void add_product(const at::Tensor& into, const at::Tensor& a, const at::Tensor& b);

/// The types of a product's factors and of its result.
struct ProductTypes {
  ProductTypes(at::ScalarType all) : ProductTypes(all, all) {}
  ProductTypes(at::ScalarType factors, at::ScalarType sums) : operands(factors), result(sums) {}

  at::ScalarType operands;
  at::ScalarType result;
};

/// x w, differentiable. `x` [rows, inner], `w` [inner, columns]. The gradient of a parameter is added directly to its
/// buffer, so that many steps need no more memory for it than one.
at::Tensor multiply(const at::Tensor& x, const at::Tensor& w, const ProductTypes& types);
/// The same with some of the columns of a parameter.
at::Tensor multiply(const at::Tensor& x, const at::Tensor& parameter, const base::Span& columns,
                    const ProductTypes& types);
/// x w^T with `w` [columns, inner]; gradients as in multiply().
at::Tensor multiply_by_transposed(const at::Tensor& x, const at::Tensor& w, const ProductTypes& types);
/// x w + bias, with factors in `type` and the result in the bias's type; gradients as in multiply().
at::Tensor multiply_add(const at::Tensor& bias, const at::Tensor& x, const at::Tensor& w, at::ScalarType type);

}  // namespace ut::core
