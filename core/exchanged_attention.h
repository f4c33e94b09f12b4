#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <functional>
#include <memory>

#include "core/attention_layout.h"
#include "dist/sequence_exchange.h"

namespace ut::core {

/// An AttentionSite, and how to make the queries, keys and values that meet there.
struct AttentionCall : AttentionSite {
  /// Makes the local rows' queries [local rows, d]. Called while keys and values are on their way.
  std::function<at::Tensor()> query;
  /// Makes keys beside values [rows, 2d] of the states sent [rows, d]. Empty if keys and values themselves are sent.
  std::function<at::Tensor(const at::Tensor&)> project;

  at::Tensor keys_values(const at::Tensor& sent) const { return project ? project(sent) : sent; }
};

/// Self-attention across the cut: every rank's queries over the keys and values of all positions, in one of the forms
/// of dist::ExchangeForm, which all give the same result.
class ExchangedAttention {
 public:
  virtual ~ExchangedAttention() = default;
  /// `sent` [local rows, d or 2d]: states, or keys beside values -> the heads' outputs [local rows, d]. Collective.
  /// Throws base::BadInput if the form is `heads` and there are more ranks than heads.
  virtual at::Tensor attend(const at::Tensor& sent, const AttentionCall& call) const = 0;
};

/// What one attention head works on.
struct HeadKind {
  at::ScalarType type;   // of queries, keys and values
  std::int64_t columns;  // of each
};

/// In the form that the options of `exchange` name. With broadcast and ring, heads for which RowAttention has no
/// kernels are attended to only when all rows have arrived. `exchange` must outlive the result.
std::unique_ptr<ExchangedAttention> make_exchanged_attention(const dist::SequenceExchange& exchange, bool causal,
                                                             const HeadKind& head);

}  // namespace ut::core
