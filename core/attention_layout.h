#pragma once

#include <ATen/core/Tensor.h>

#include <functional>
#include <memory>

#include "core/kernels/row_attention.h"
#include "core/kernels/varlen_attention.h"
#include "core/slotted_attention.h"
#include "dist/rows.h"

namespace ut::core {

/// Attention without a graph.
struct GraphlessAttention {
  at::Tensor output;  // [query rows, d]
  /// The backward pass: takes the output's gradient and returns the query's. That of keys and values is added to the
  /// second argument [key rows, 2d], of dist::accumulation_type(), which is made where it is undefined. Keys and values
  /// must still stand where they stood.
  std::function<at::Tensor(const at::Tensor&, at::Tensor&)> backward;
};

/// Is told of queries [query rows, d], of keys beside values [key rows, 2d], and of the heads' outputs [query rows, d].
using AttentionLook = std::function<void(const at::Tensor&, const at::Tensor&, const at::Tensor&)>;

/// How query rows and key rows meet: which rows belong to the same sequence, and who may see whom. Made once for
/// a batch where all rows stay, and where rows leave, or come one by one in decoding, once for a step.
class AttentionLayout {
 public:
  /// `queries` and `keys` list the same sequences. Causal: a query sees the keys of positions up to its own. `device`:
  /// where the rows are that attend() is given.
  AttentionLayout(const dist::Rows& queries, const dist::Rows& keys, bool causal, at::Device device,
                  const KeyRows& key_rows = {});

  /// Attention of each query row over the key rows of its sequence (equations 1 to 3, before W^O).
  /// `query` [query rows, d], `keys_values` [key rows, 2d], a row's key beside its value -> [query rows, d].
  at::Tensor attend(const at::Tensor& query, const at::Tensor& keys_values, const AttentionSite& site) const;
  /// The same for a caller that keeps the keys and values itself.
  GraphlessAttention attend_without_graph(const at::Tensor& query, const at::Tensor& keys_values,
                                          const AttentionSite& site) const;
  /// The same layout, where attend() tells `look` what met and what came of it.
  AttentionLayout watched(AttentionLook look) const;

 private:
  VarlenKernel kernel_for(const at::Tensor& query, const AttentionSite& site) const;
  /// Nothing where that is not how these are attended with.
  std::shared_ptr<const RowSpans> spans_for(const at::Tensor& query, const AttentionSite& site) const;
  at::Tensor attend_unwatched(const at::Tensor& query, const at::Tensor& keys_values, const AttentionSite& site) const;
  /// By the library's operations, which have a graph.
  at::Tensor attend_by_library(const at::Tensor& query, const at::Tensor& keys_values, const AttentionSite& site) const;

  // What is made when it is first asked for is a function.
  std::function<std::shared_ptr<const VarlenAttention>()> varlen_;  // on CUDA devices, where these rows fit
  std::function<std::shared_ptr<const RowSpans>()> spans_;          // on the host and where there are kernels for it
  std::function<std::shared_ptr<const SlottedAttention>()> slots_;  // for all else
  AttentionLook look_;                                              // where somebody watches
};

}  // namespace ut::core
