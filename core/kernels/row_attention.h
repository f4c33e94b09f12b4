#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

#include "core/kernels/attention_site.h"
#include "core/kernels/row_spans.h"

namespace ut::core {

/// Whether RowAttention can be used on this device for queries of this type with heads of `columns_of_head` columns.
bool has_row_attention(at::Device device, at::ScalarType type, std::int64_t columns_of_head);

/// Attention of query rows over key rows (equations 1 to 3, before W^O), with the keys in one or several parts. Only
/// the weights of a block of queries are ever in memory; the backward pass computes them, and draws dropout's numbers,
/// again. All is computed in dist::accumulation_type().
class RowAttention {
 public:
  /// `query` [query rows, d].
  RowAttention(const at::Tensor& query, const AttentionSite& site);

  /// Attends to one more part: `keys_values` [key rows, 2d], each row's key beside its value.
  void attend_to(const at::Tensor& keys_values, const RowSpans& spans);

  /// The heads' outputs [query rows, d] over all parts attended to so far, in the query's type.
  at::Tensor output() const;

  /// The backward pass to one part, from the output's gradient [query rows, d], after attend_to() of all parts. Adds to
  /// the gradients of the query and of that part, which are of dist::accumulation_type(), or creates them if they are
  /// undefined.
  void backward(const at::Tensor& gradient, const at::Tensor& keys_values, const RowSpans& spans,
                at::Tensor& query_gradient, at::Tensor& keys_values_gradient) const;

 private:
  at::ScalarType type_;  // of the query as given
  AttentionSite site_;
  at::Tensor query_;       // [query rows, d], in the type in which kernels read it
  at::Tensor output_;      // [query rows, d]
  at::Tensor log_sum_;     // [query rows, heads]: the logarithm of the sum of exp(logit)
  bool has_keys_ = false;  // whether attend_to() has been given any
};

}  // namespace ut::core
