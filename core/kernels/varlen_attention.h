#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

#include "core/kernels/key_rows.h"
#include "dist/rows.h"

namespace ut::core {

/// The library's attention over sequences of different lengths, without padding. CUDA devices alone have it.
enum class VarlenKernel {
  none,
  flash,             // bfloat16
  memory_efficient,  // float32 too
};

/// Which of them is for rows on this device, in this type, with so many columns a head. None draws dropout's numbers as
/// we do, so there is none where weights are dropped.
VarlenKernel varlen_kernel(at::Device device, at::ScalarType type, std::int64_t columns_of_head, bool drops_weights);

/// Whether these rows meet in a way that they know: every sequence has queries and keys; causal: and these are the
/// same.
bool fits_varlen(const dist::Rows& queries, const dist::Rows& keys, bool causal);

/// Attention of query rows over the key rows of the same sequence, by one of these kernels.
class VarlenAttention {
 public:
  /// As AttentionLayout, of rows that fit.
  VarlenAttention(const dist::Rows& queries, const dist::Rows& keys, bool causal, at::Device device,
                  const KeyRows& key_rows = {});

  /// `query` [query rows, d], `keys_values` [key rows, 2d] -> [query rows, d]. `kernel`: not none.
  at::Tensor attend(const at::Tensor& query, const at::Tensor& keys_values, std::int64_t heads,
                    VarlenKernel kernel) const;

 private:
  bool causal_;
  std::int64_t most_queries_;  // of a sequence
  std::int64_t most_keys_;
  at::Tensor query_offsets_;  // [sequences + 1] int32
  at::Tensor key_offsets_;    // [sequences + 1] int32
  std::int64_t keys_;
  at::Tensor key_rows_;  // [keys] int64; undefined: in order
};

}  // namespace ut::core
