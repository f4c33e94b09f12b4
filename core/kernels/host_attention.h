#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

#include "core/kernels/attention_site.h"
#include "core/kernels/gradient_of_rows.h"
#include "core/kernels/row_spans.h"

/// The functions of gpu_attention.h on the host's cores. They work on a block of queries at a time, and only its
/// weights are in memory. All tensors are float32 or float64; a row's columns are contiguous.
namespace ut::core {

/// Queries of a sequence whose weights a thread has in memory at the same time.
constexpr std::int64_t queries_at_once = 64;

void host_attend(const at::Tensor& query, const at::Tensor& keys_values, const RowSpans& spans,
                 const AttentionSite& site, bool has_earlier_keys, const at::Tensor& output, const at::Tensor& log_sum);

void host_attend_backward(const at::Tensor& query, const at::Tensor& keys_values, const RowSpans& spans,
                          const AttentionSite& site, const at::Tensor& output, const at::Tensor& log_sum,
                          const at::Tensor& gradient, const GradientOfRows& query_gradient,
                          const GradientOfRows& keys_values_gradient);

}  // namespace ut::core
