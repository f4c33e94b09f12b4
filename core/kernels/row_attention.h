#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

#include "core/kernels/attention_site.h"
#include "core/kernels/row_spans.h"

namespace ut::core {

/// Whether heads of so many columns, of queries of this type, can be attended with so on this device.
bool has_row_attention(at::Device device, at::ScalarType type, std::int64_t columns_of_head);

/// Attention of query rows over key rows (equations 1 to 3, before W^O), the keys in one or several parts. No more of
/// the weights is ever there than a block of queries needs; the backward pass makes them again, and draws dropout's
/// numbers again. All is computed in dist::accumulation_type().
class RowAttention {
 public:
  /// `query` [query rows, d].
  RowAttention(const at::Tensor& query, const AttentionSite& site);

  /// Attends to `keys_values` [key rows, 2d], a row's key beside its value, as well.
  void meet(const at::Tensor& keys_values, const RowSpans& spans);

  /// Over all that was met, as the query's type. [query rows, d]
  at::Tensor output() const;

  /// The backward pass to one part, from the output's gradient: adds to the gradients of the query and of that part,
  /// which are of dist::accumulation_type() of the query's, and made where they are undefined.
  void backward(const at::Tensor& gradient, const at::Tensor& keys_values, const RowSpans& spans,
                at::Tensor& query_gradient, at::Tensor& keys_values_gradient) const;

 private:
  at::ScalarType type_;  // of the query as given
  AttentionSite site_;
  at::Tensor query_;    // [query rows, d], of the exact type where that is what is computed with
  at::Tensor output_;   // [query rows, d]
  at::Tensor log_sum_;  // [query rows, heads]: the logarithm of the sum of exp(logit)
  bool met_ = false;    // any keys so far
};

}  // namespace ut::core
