#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "core/dropout.h"
#include "dist/rows.h"

namespace ut::core {

/// Where each sequence's queries and keys stand among rows, each one after the other, and who may see whom.
struct RowSpans {
  std::vector<dist::Span> queries;      // [sequences]
  std::vector<dist::Span> keys;         // [sequences]
  std::vector<std::int64_t> sequence;   // [query rows]: identities
  std::vector<std::int64_t> position;   // [query rows]
  std::vector<std::int64_t> first_key;  // [sequences]: position of the first key
  bool causal = false;                  // a query sees the keys of positions up to its own
};

/// Whether row_attention() can work on these tensors: on the host, in float32 or float64.
bool can_attend_rows(const at::Tensor& query, const at::Tensor& keys_values);

/// Attention of `query` [query rows, d] over `keys_values` [key rows, 2d], a row's key beside its value (equations 1 to
/// 3, before W^O) -> [query rows, d]. No more of the weights is ever there than a block of queries needs; the way back
/// makes them again, and draws dropout's numbers again.
at::Tensor row_attention(const at::Tensor& query, const at::Tensor& keys_values,
                         const std::shared_ptr<const RowSpans>& spans, std::int64_t heads, double dropout_rate,
                         const DropoutKey& dropout);

}  // namespace ut::core
