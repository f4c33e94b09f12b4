#pragma once

#include <ATen/core/Tensor.h>

#include "base/span.h"
#include "core/options.h"

namespace ut::core {

/// In which type a model multiplies matrices: that of its parameters, or bfloat16. Sums within a product are float32
/// there, and so is all that is not a product: parameters, states, norms, softmax, sums over steps and ranks.
at::ScalarType product_type(const ModelOptions& options);

/// a b of matrices, without a graph: in float32 on the host by the library of core/kernels/gemm.h, else by LibTorch's.
at::Tensor product(const at::Tensor& a, const at::Tensor& b);

/// into += a b, of a matrix that lies in rows, or whose transpose does; in its type or in another.
void add_product(const at::Tensor& into, const at::Tensor& a, const at::Tensor& b);

/// Of a product's factors, and of what comes of them.
struct ProductTypes {
  ProductTypes(at::ScalarType all) : ProductTypes(all, all) {}
  ProductTypes(at::ScalarType factors, at::ScalarType sums) : operands(factors), result(sums) {}

  at::ScalarType operands;
  at::ScalarType result;
};

/// x w. `x` [rows, inner], `w` [inner, columns].
at::Tensor multiply(const at::Tensor& x, const at::Tensor& w, const ProductTypes& types);
/// The same with some of the columns of a parameter. A parameter's gradient is added to where it is kept, so that steps
/// need no more room for it than one.
at::Tensor multiply(const at::Tensor& x, const at::Tensor& parameter, const base::Span& columns,
                    const ProductTypes& types);
/// x w^T, of a parameter `w` [columns, inner]; likewise.
at::Tensor multiply_by_transposed(const at::Tensor& x, const at::Tensor& w, const ProductTypes& types);
/// x w + bias, of factors in `type`, in the bias's; of parameters, likewise.
at::Tensor multiply_add(const at::Tensor& bias, const at::Tensor& x, const at::Tensor& w, at::ScalarType type);

}  // namespace ut::core
