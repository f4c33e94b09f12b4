#include "core/products.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>
#include <ATen/record_function.h>

#include <algorithm>
#include <functional>

#include "core/kernels/gemm.h"
#include "core/parameters.h"
#include "dist/differentiable.h"

namespace ut::core {
namespace {

/// Gives what a product uses of a parameter and, for the backward pass, of the parameter's gradient.
using View = std::function<at::Tensor(const at::Tensor&)>;

bool is_for_gemm(const at::Tensor& matrix) {
  return matrix.is_cpu() && matrix.scalar_type() == at::kFloat && matrix.numel() > 0;
}

/// Whether a row's numbers lie one after the other, and so do the rows.
bool is_in_rows(const at::Tensor& matrix) {
  return (matrix.size(1) == 1 || matrix.stride(1) == 1) && (matrix.size(0) == 1 || matrix.stride(0) >= matrix.size(1));
}

MatrixRows<float> rows_of(const at::Tensor& matrix) {
  return {matrix.data_ptr<float>(), std::max(matrix.stride(0), matrix.size(1))};
}

/// `matrix` or its transpose must be in rows.
Factor<float> factor_of(const at::Tensor& matrix) {
  return is_in_rows(matrix) ? as_stored(rows_of(matrix)) : transposed(rows_of(matrix.t()));
}

at::Tensor ordered(const at::Tensor& matrix) {
  return is_in_rows(matrix) || is_in_rows(matrix.t()) ? matrix : matrix.contiguous();
}

/// into = a b + kept * into; is_for_gemm() of all of them.
void gemm_of(const at::Tensor& into, const at::Tensor& a, const at::Tensor& b, float kept) {
  if (!is_in_rows(into)) return gemm_of(into.t(), b.t(), a.t(), kept);
  RECORD_USER_SCOPE("product");
  const at::Tensor left = ordered(a);
  const at::Tensor right = ordered(b);
  gemm(into.size(0), into.size(1), a.size(1), 1, factor_of(left), factor_of(right), kept, rows_of(into));
}

/// a b in `type`, that of the factors or a wider one. If it is wider, sums are never rounded to the factors' type.
at::Tensor product_as(at::ScalarType type, const at::Tensor& a, const at::Tensor& b) {
  if (type == a.scalar_type()) return product(a, b);
  return a.is_cuda() ? at::mm(a, b, type) : product(a.to(type), b.to(type));
}

/// Gradients of x (in `type`), of w and, with `has_bias`, of the bias, from that of the result. w's is added to
/// `w_gradient`, so none is returned. This is one product for w in each step: a single one for all steps took as long
/// (0.91 to 1.08 of it at d 64 to 512), and the gradients of all steps would have to be kept for it.
std::vector<at::Tensor> product_backward(const at::Tensor& x, const at::Tensor& w, const at::Tensor& w_gradient,
                                         const at::Tensor& gradient, at::ScalarType type, bool has_bias) {
  const at::Tensor of_x = product_as(type, gradient, w.t());
  add_product(w_gradient, x.t(), gradient);
  if (!has_bias) return {of_x, {}};
  return {of_x, {}, gradient.sum(0)};
}

/// Whether a product of these, if `w` has no buffer for its gradient, needs LibTorch's autograd graph.
bool needs_graph(const at::Tensor& x, const at::Tensor& w) {
  return at::GradMode::is_enabled() && (x.requires_grad() || w.requires_grad());
}

at::Tensor multiply_view(const at::Tensor& x, const at::Tensor& parameter, const View& view,
                         const ProductTypes& types) {
  const at::Tensor typed = x.detach().to(types.operands);
  if (!keeps_gradient(parameter)) {
    const at::Tensor w = view(parameter).to(types.operands);
    return needs_graph(x, w) ? at::mm(x.to(types.operands), w).to(types.result) : product_as(types.result, typed, w);
  }
  const auto typed_view = [parameter, view, types] { return view(parameter.detach()).to(types.operands); };
  return dist::with_backward(product_as(types.result, typed, typed_view()), {x, parameter},
                             [=, type = x.scalar_type()](const at::Tensor& gradient) {
                               return product_backward(typed, typed_view(), view(parameter.grad()),
                                                       gradient.to(types.operands), type, false);
                             });
}

/// x w + bias, without a graph.
at::Tensor product_and_bias(const at::Tensor& bias, const at::Tensor& x, const at::Tensor& w) {
  if (!is_for_gemm(x)) return at::addmm(bias, x, w);
  const at::Tensor result = bias.expand({x.size(0), w.size(1)}).clone(at::MemoryFormat::Contiguous);
  gemm_of(result, x, w, 1);
  return result;
}

}  // namespace

at::ScalarType product_type(const ModelOptions& options) {
  return options.bfloat16_products ? at::kBFloat16 : scalar_type(options.precision);
}

at::Tensor product(const at::Tensor& a, const at::Tensor& b) {
  if (!is_for_gemm(a) || !is_for_gemm(b)) return at::mm(a, b);
  const at::Tensor result = at::empty({a.size(0), b.size(1)}, a.options());
  gemm_of(result, a, b, 0);
  return result;
}

void add_product(const at::Tensor& into, const at::Tensor& a, const at::Tensor& b) {
  const at::ScalarType type = into.scalar_type();
  at::Tensor sum = into;
  if (type != a.scalar_type() && into.is_cuda())
    at::addmm_out(sum, into, a, b, type);
  else if (type != a.scalar_type())
    add_product(into, a.to(type), b.to(type));
  else if (is_for_gemm(into) && is_for_gemm(a))
    gemm_of(into, a, b, 1);
  else
    into.addmm_(a, b);
}

at::Tensor multiply(const at::Tensor& x, const at::Tensor& w, const ProductTypes& types) {
  return multiply_view(
      x, w, [](const at::Tensor& whole) { return whole; }, types);
}

at::Tensor multiply(const at::Tensor& x, const at::Tensor& parameter, const base::Span& columns,
                    const ProductTypes& types) {
  const auto some_columns = [columns](const at::Tensor& whole) {
    return whole.narrow(1, columns.begin, columns.end - columns.begin);
  };
  return multiply_view(x, parameter, some_columns, types);
}

at::Tensor multiply_by_transposed(const at::Tensor& x, const at::Tensor& w, const ProductTypes& types) {
  return multiply_view(
      x, w, [](const at::Tensor& whole) { return whole.t(); }, types);
}

at::Tensor multiply_add(const at::Tensor& bias, const at::Tensor& x, const at::Tensor& w, at::ScalarType type) {
  if (type != bias.scalar_type()) return multiply(x, w, {type, bias.scalar_type()}) + bias;
  if (!keeps_gradient(w) && needs_graph(x, w)) return at::addmm(bias, x, w);
  return dist::with_backward(product_and_bias(bias.detach(), x.detach(), w.detach()), {x, w, bias},
                             [seen = x.detach(), w](const at::Tensor& gradient) {
                               return product_backward(seen, w.detach(), w.grad(), gradient, seen.scalar_type(), true);
                             });
}

}  // namespace ut::core
