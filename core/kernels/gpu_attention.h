#pragma once

#include <ATen/core/Tensor.h>

#include "core/kernels/attention_site.h"
#include "core/kernels/gradient_of_rows.h"
#include "core/kernels/tiled_spans.h"

/// Attention over rows by kernels of CUDA devices, on the current stream: the weights are never stored, dropout's draws
/// are the host's, and sums come in the same order in every run. Of queries, keys and values, and the output's
/// gradient, all of float32, float64 or bfloat16; the rest is of dist::accumulation_type() of that. A row's columns are
/// one after the other.
namespace ut::core {

/// Whether heads of so many columns have kernels on this device.
bool has_gpu_attention(at::Device device, at::ScalarType type, std::int64_t columns_of_head);

/// Attends with `query` [query rows, d] to `keys_values` [key rows, 2d] as well: `output` [query rows, d] and `log_sum`
/// [query rows, heads] are over what was met before, or, unless `met_before`, have nothing in them yet.
void gpu_attend(const at::Tensor& query, const at::Tensor& keys_values, const TiledSpans& spans,
                const AttentionSite& site, bool met_before, const at::Tensor& output, const at::Tensor& log_sum);

/// The backward pass of that to one part of what was met, from the gradient of the output over all.
void gpu_attend_backward(const at::Tensor& query, const at::Tensor& keys_values, const TiledSpans& spans,
                         const AttentionSite& site, const at::Tensor& output, const at::Tensor& log_sum,
                         const at::Tensor& gradient, const GradientOfRows& query_gradient,
                         const GradientOfRows& keys_values_gradient);

}  // namespace ut::core
