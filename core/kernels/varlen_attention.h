#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

#include "core/kernels/key_rows.h"
#include "dist/rows.h"

namespace ut::core {

/// LibTorch's kernels for attention over sequences of different lengths, without padding. Only CUDA devices have them.
enum class VarlenKernel {
  none,
  flash,             // bfloat16
  memory_efficient,  // float32 too
};

/// Which of them can be used for rows on this device, in this type, with `columns_of_head` columns per head. None draws
/// dropout's numbers as we do, so the answer is `none` if weights are dropped.
VarlenKernel varlen_kernel(at::Device device, at::ScalarType type, std::int64_t columns_of_head, bool drops_weights);

/// Whether these kernels can be used for such rows: every sequence has queries and keys and, if causal, they are at the
/// same positions.
bool fits_varlen(const dist::Rows& queries, const dist::Rows& keys, bool causal);

/// Attention of query rows over the key rows of the same sequence, by one of these kernels.
class VarlenAttention {
 public:
  /// Arguments as for AttentionLayout; the rows must fit.
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
