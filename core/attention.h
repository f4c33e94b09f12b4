#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/dropout.h"
#include "core/parameters.h"
#include "core/row_attention.h"
#include "dist/rows.h"

namespace ut::core {

/// Where the heads of rows stand that are in these slots [rows] int64, sequence * slots + place in it, among the heads
/// of all slots in the order of sequence, head and slot. [rows * heads] int64, in the order of row and head.
at::Tensor heads_in_slots(const at::Tensor& slot_of_row, std::int64_t slots, std::int64_t heads);

/// Attention over some of the keys that a query sees.
struct PartOfAttention {
  at::Tensor output;   // [sequences * heads, query slots, d / heads]: as if there were no others
  at::Tensor log_sum;  // [sequences * heads, query slots, 1]: the logarithm of the sum of exp(logit)
};

/// The attention over all keys, of which each part has seen some. At least one part.
at::Tensor whole_attention(const std::vector<PartOfAttention>& parts);

/// How query rows and key rows meet: which rows belong to the same sequence, and who may see whom. Made once for a
/// batch and used at every step. The only place with padding.
class AttentionLayout {
 public:
  /// `queries` and `keys` list the same sequences; keys hold every position of them, or a span of each. Causal: a query
  /// sees the keys of positions up to its own. `place` [keys]: where each key stands among the rows that attend() is
  /// given, where that is not in this order. There are key slots for the longest sequence, or `key_slots` if that is
  /// more.
  AttentionLayout(const dist::Rows& queries, const dist::Rows& keys, bool causal,
                  const std::optional<std::span<const std::int64_t>>& place = std::nullopt, std::int64_t key_slots = 0);

  /// Where the rows are that it is used for; at first the host.
  AttentionLayout& on(at::Device device);

  /// Attention of each query row over the key rows of its sequence (equations 1 to 3, before W^O).
  /// `query` [query rows, d], `keys_values` [key rows, 2d], a row's key beside its value -> [query rows, d]; dropout
  /// acts on the weights.
  at::Tensor attend(const at::Tensor& query, const at::Tensor& keys_values, std::int64_t heads, double dropout_rate,
                    const DropoutKey& dropout) const;

  /// The same as a composition of the library's operations, whatever the device and the type: the reference.
  at::Tensor attend_plainly(const at::Tensor& query, const at::Tensor& keys_values, std::int64_t heads,
                            double dropout_rate, const DropoutKey& dropout) const;

  // Its parts, for who keeps keys and values by head, or meets them span by span.

  /// `query` as queries_by_head() gives it.
  PartOfAttention attend_in_part(const at::Tensor& query, const at::Tensor& keys_values, std::int64_t heads,
                                 double dropout_rate, const DropoutKey& dropout) const;
  bool has_keys() const { return key_slots_ > 0; }

  /// [query rows, d] -> [sequences * heads, query slots, d / heads], scaled.
  at::Tensor queries_by_head(const at::Tensor& query, std::int64_t heads) const;
  /// Logits [sequences * heads, query slots, key slots] -> weights.
  at::Tensor weights(const at::Tensor& logits, std::int64_t heads) const;
  /// Dropout on weights, or on their gradient.
  at::Tensor drop(const at::Tensor& weights, std::int64_t heads, double dropout_rate, const DropoutKey& dropout) const;
  /// [sequences * heads, query slots, d / heads] -> [query rows, d].
  at::Tensor rows_of_heads(const at::Tensor& by_head, std::int64_t heads) const;

 private:
  at::Tensor bias(const dist::Rows& keys, bool causal) const;
  at::Tensor masked(const at::Tensor& logits, std::int64_t heads) const;
  /// Each [sequences * heads, slots, d / heads].
  std::pair<at::Tensor, at::Tensor> keys_values_by_head(const at::Tensor& keys_values, std::int64_t heads) const;

  std::int64_t sequences_;
  std::int64_t query_slots_ = 0;  // the most query rows that a sequence has
  std::int64_t key_slots_ = 0;
  at::Tensor query_row_of_slot_;           // [sequences * query slots] int64; any row in a slot that is empty
  at::Tensor slot_of_query_row_;           // [query rows] int64
  at::Tensor key_row_of_slot_;             // [sequences * key slots] int64; any row in a slot that is empty
  at::Tensor slot_of_key_;                 // [keys] int64; undefined where they fill all slots
  at::Tensor bias_;                        // [sequences, 1, query slots or 1, key slots] float32; undefined: all seen
  std::shared_ptr<const RowSpans> spans_;  // undefined where keys stand elsewhere
  std::shared_ptr<const QueryIdentities> identities_;  // for dropout
};

/// Multi-head attention without biases, as the authors have it. Queries, keys and values are of the products' type.
class SelfAttention {
 public:
  SelfAttention(Parameters& parameters, const std::string& name, const ModelOptions& options);

  /// `x` [rows, d] -> queries [rows, d] and the rows to exchange, keys beside values [rows, 2d].
  std::pair<at::Tensor, at::Tensor> project(const at::Tensor& x) const;
  /// The one, or the other, alone.
  at::Tensor queries(const at::Tensor& x) const;
  at::Tensor keys_values(const at::Tensor& x) const;
  /// Heads' outputs [rows, d] -> [rows, d].
  at::Tensor combine(const at::Tensor& heads) const;

 private:
  at::ScalarType type_;         // of products
  at::Tensor query_key_value_;  // [d, 3d]
  at::Tensor output_;           // [d, d]
};

class CrossAttention {
 public:
  CrossAttention(Parameters& parameters, const std::string& name, const ModelOptions& options);

  at::Tensor queries(const at::Tensor& x) const;           // [rows, d] -> [rows, d]
  at::Tensor keys_values(const at::Tensor& memory) const;  // [memory rows, d] -> [memory rows, 2d]
  at::Tensor combine(const at::Tensor& heads) const;       // [rows, d] -> [rows, d]

 private:
  at::ScalarType type_;   // of products
  at::Tensor query_;      // [d, d]
  at::Tensor key_value_;  // [d, 2d]
  at::Tensor output_;     // [d, d]
};

}  // namespace ut::core
