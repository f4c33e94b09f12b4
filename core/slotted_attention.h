#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <memory>
#include <utility>

#include "core/kernels/attention_site.h"
#include "core/kernels/key_rows.h"
#include "dist/rows.h"

namespace ut::core {

/// Attention composed of LibTorch's operations, for any device. Each sequence takes as many slots as the longest has
/// rows: the only place with padding. It is the reference for attention over rows.
class SlottedAttention {
 public:
  /// Arguments as for AttentionLayout.
  SlottedAttention(const dist::Rows& queries, const dist::Rows& keys, bool causal, at::Device device,
                   const KeyRows& key_rows = {});

  /// `query` [query rows, d], `keys_values` [key rows, 2d] -> [query rows, d].
  at::Tensor attend(const at::Tensor& query, const at::Tensor& keys_values, const AttentionSite& site) const;

 private:
  at::Tensor bias(const dist::Rows& keys, bool causal, at::Device device) const;
  /// [query rows, d] -> [sequences * heads, query slots, d / heads], scaled by 1 / sqrt(d / heads).
  at::Tensor queries_by_head(const at::Tensor& query, std::int64_t heads) const;
  at::Tensor masked(const at::Tensor& logits, std::int64_t heads) const;
  at::Tensor drop(const at::Tensor& weights, const AttentionSite& site) const;
  /// Each [sequences * heads, slots, d / heads].
  std::pair<at::Tensor, at::Tensor> keys_values_by_head(const at::Tensor& keys_values, std::int64_t heads) const;
  /// [sequences * heads, query slots, d / heads] -> [query rows, d].
  at::Tensor rows_of_heads(const at::Tensor& by_head, std::int64_t heads) const;

  std::int64_t sequences_;
  std::int64_t query_slots_ = 0;  // the most query rows that a sequence has
  std::int64_t key_slots_ = 0;
  at::Tensor query_row_of_slot_;  // [sequences * query slots] int64; an arbitrary row for an empty slot
  at::Tensor slot_of_query_row_;  // [query rows] int64
  at::Tensor key_row_of_slot_;    // [sequences * key slots] int64; an arbitrary row for an empty slot
  at::Tensor slot_of_key_;        // [keys] int64; undefined if they fill all slots
  at::Tensor bias_;               // [sequences, 1, query slots or 1, key slots] float32; undefined: all seen
  std::shared_ptr<const QueryIdentities> identities_;  // for dropout
};

}  // namespace ut::core
