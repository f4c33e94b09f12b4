#pragma once

#include <ATen/core/Tensor.h>

#include "core/kernels/row_threads.h"

/// Layer normalisation of a sum of rows, one of them with dropout, in one pass forward and one backward. Tensors are
/// contiguous, all of one type (float32 or float64) and on one device, as are the tables of identities. `draw` is not
/// bound to a row yet (see dropout_draw()).
namespace ut::core {

constexpr std::int64_t rows_summed_at_once = 64;  // so that sums over rows do not depend on the number of threads

/// The result of normalising a sum, and what the backward pass needs of it.
struct NormalisedSum {
  at::Tensor output;      // [rows, d]
  at::Tensor normalised;  // [rows, d]: before scale and bias
  at::Tensor factor;      // [rows]: 1 / sqrt(variance + epsilon)
};

struct NormalisedSumGradients {
  at::Tensor of_sum;             // [rows, d]
  at::Tensor of_scale_and_bias;  // [2, d]
};

/// scale * (x + dropout(y), normalised) + bias, of x and y [rows, d], scale and bias [d].
NormalisedSum normalised_sum(const at::Tensor& x, const at::Tensor& y, const at::Tensor& scale, const at::Tensor& bias,
                             double epsilon, double rate, const DropoutDraw& draw, const RowIdentities& identities);

/// The backward pass, from the gradient of the output [rows, d]; does not need made.output.
NormalisedSumGradients normalised_sum_backward(const NormalisedSum& made, const at::Tensor& scale,
                                               const at::Tensor& gradient);

}  // namespace ut::core
