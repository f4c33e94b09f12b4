#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <functional>
#include <memory>

#include "core/attention_layout.h"
#include "dist/sequence_exchange.h"

namespace ut::core {

/// An AttentionSite, and what meets there.
struct AttentionCall : AttentionSite {
  /// Makes the local rows' queries [local rows, d]: asked for while keys and values are on their way.
  std::function<at::Tensor()> query;
  /// What is sent for rows -> their keys beside values [rows, 2d]; where that is what is sent, nothing.
  std::function<at::Tensor(const at::Tensor&)> project;

  at::Tensor keys_values(const at::Tensor& sent) const { return project ? project(sent) : sent; }
};

/// Self-attention across the cut: every rank's queries over the keys and values of all positions, in one of the forms
/// of dist::ExchangeForm, which all give the same.
class ExchangedAttention {
 public:
  virtual ~ExchangedAttention() = default;
  /// `sent` [local rows, d or 2d] -> the heads' outputs [local rows, d]. Collective. Throws base::BadInput where heads
  /// are shared and there are more ranks than heads.
  virtual at::Tensor attend(const at::Tensor& sent, const AttentionCall& call) const = 0;
};

/// As `exchange` says; it must live as long as this.
std::unique_ptr<ExchangedAttention> make_exchanged_attention(const dist::SequenceExchange& exchange, bool causal);

}  // namespace ut::core
