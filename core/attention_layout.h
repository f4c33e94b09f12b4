#pragma once

#include <ATen/core/Tensor.h>

#include <functional>
#include <memory>

#include "core/kernels/row_attention.h"
#include "core/kernels/varlen_attention.h"
#include "core/slotted_attention.h"
#include "dist/rows.h"

namespace ut::core {

/// The result of attention without an autograd graph.
struct GraphlessAttention {
  at::Tensor output;  // [query rows, d]
  /// The backward pass: takes the output's gradient and returns the query's, both [query rows, d]. Adds the gradient of
  /// keys and values to the second argument [key rows, 2d], of dist::accumulation_type(), or creates it if it is
  /// undefined. The tensor of keys and values must hold the same values as in the forward pass.
  std::function<at::Tensor(const at::Tensor&, at::Tensor&)> backward;
};

/// Called with queries [query rows, d], keys beside values [key rows, 2d] and the heads' outputs [query rows, d].
using AttentionObserver = std::function<void(const at::Tensor&, const at::Tensor&, const at::Tensor&)>;

/// How query rows and key rows meet: which belong to the same sequence, and which may see which. Made once per batch if
/// all rows stay; once per step if rows leave or, in decoding, come one by one.
class AttentionLayout {
 public:
  /// `queries` and `keys` list the same sequences. `causal`: a query sees only the keys of positions up to its own.
  /// `device`: where the rows given to attend() are. `key_rows`: in which row of `keys_values` each key stands.
  AttentionLayout(const dist::Rows& queries, const dist::Rows& keys, bool causal, at::Device device,
                  const KeyRows& key_rows = {});

  /// Attention of each query row over the key rows of its sequence (equations 1 to 3, before W^O). `query` [query rows,
  /// d], `keys_values` [key rows, 2d], each row's key beside its value -> heads' outputs [query rows, d].
  at::Tensor attend(const at::Tensor& query, const at::Tensor& keys_values, const AttentionSite& site) const;
  /// The same for a caller that keeps the keys and values itself.
  GraphlessAttention attend_without_graph(const at::Tensor& query, const at::Tensor& keys_values,
                                          const AttentionSite& site) const;
  /// A copy whose attend() calls `observer` too.
  AttentionLayout with_observer(AttentionObserver observer) const;

 private:
  VarlenKernel kernel_for(const at::Tensor& query, const AttentionSite& site) const;
  /// Null if other kernels are used for this query.
  std::shared_ptr<const RowSpans> spans_for(const at::Tensor& query, const AttentionSite& site) const;
  at::Tensor attend_unobserved(const at::Tensor& query, const at::Tensor& keys_values, const AttentionSite& site) const;
  /// By LibTorch's operations, which have an autograd graph.
  at::Tensor attend_by_library(const at::Tensor& query, const at::Tensor& keys_values, const AttentionSite& site) const;

  // Functions, so that each layout is made only when it is first needed; empty if it cannot be used.
  std::function<std::shared_ptr<const VarlenAttention>()> varlen_;  // on CUDA devices, if these rows fit
  std::function<std::shared_ptr<const RowSpans>()> spans_;          // on the host, and on devices with kernels for it
  std::function<std::shared_ptr<const SlottedAttention>()> slots_;  // for everything else
  AttentionObserver observer_;                                      // may be empty
};

}  // namespace ut::core
