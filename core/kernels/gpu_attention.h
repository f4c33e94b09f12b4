#pragma once

#include <ATen/core/Tensor.h>

#include "core/kernels/attention_site.h"
#include "core/kernels/gradient_of_rows.h"
#include "core/kernels/tiled_spans.h"

/// Attention over rows by CUDA kernels, on the current stream. The weights are never stored, dropout draws the same
/// numbers as on the host, and sums come in the same order in every run. Queries, keys, values and the output's
/// gradient are all float32, float64 or bfloat16; everything else is of dist::accumulation_type() of that. A row's
/// columns are contiguous.
namespace ut::core {

/// Whether this device has kernels for heads of `columns_of_head` columns that compute in `type`.
bool has_gpu_attention(at::Device device, at::ScalarType type, std::int64_t columns_of_head);

/// Attends with `query` [query rows, d] to `keys_values` [key rows, 2d], and merges the result into `output` [query
/// rows, d] and `log_sum` [query rows, heads]. With `has_earlier_keys` these hold the results over earlier keys; else
/// they are not initialised.
void gpu_attend(const at::Tensor& query, const at::Tensor& keys_values, const TiledSpans& spans,
                const AttentionSite& site, bool has_earlier_keys, const at::Tensor& output, const at::Tensor& log_sum);

/// The backward pass of that to one part of the keys and values, from the gradient of the output over all parts.
void gpu_attend_backward(const at::Tensor& query, const at::Tensor& keys_values, const TiledSpans& spans,
                         const AttentionSite& site, const at::Tensor& output, const at::Tensor& log_sum,
                         const at::Tensor& gradient, const GradientOfRows& query_gradient,
                         const GradientOfRows& keys_values_gradient);

}  // namespace ut::core
