#pragma once

#include <optional>

#include "core/attention_layout.h"
#include "core/lstm_stack.h"
#include "core/model.h"

namespace ut::core {

/// The attention of Luong et al. 2015: global, with the `general` score, scaled like the Transformer's, and the
/// attentional vector tanh(W [context; h]). That vector is not fed back into the decoder, so that all positions go
/// through at once.
class LuongAttention {
 public:
  LuongAttention(Parameters& parameters, const std::string& name, const ModelOptions& options);

  /// `states` [rows, d] of the decoder, `memory` [source rows, 2d] as remember() gives it -> [rows, d].
  at::Tensor attend(const at::Tensor& states, const at::Tensor& memory, const AttentionLayout& layout) const;
  /// The `memory` of attend(), from the encoder's states [source rows, d].
  static at::Tensor remember(const at::Tensor& encoded);

 private:
  at::Tensor query_;    // [d, d]
  at::Tensor combine_;  // [2d, d]
};

/// The LSTM baseline of the papers' tables. The encoder's layers read the source in order; the decoder has as many,
/// which start from the encoder's last states and attend to its outputs. The tables are those of the Universal
/// Transformer. Positions and steps are ignored. With an encoder alone, an answer is read at the sequence's last row,
/// after everything else: the question comes first, so that the model knows what matters. A decoder alone starts from
/// zeros and attends to nothing. Every sequence must be on one rank; forward() and begin_decoding() throw
/// std::logic_error otherwise.
class Lstm final : public Model {
 public:
  Lstm(const ModelOptions& options, std::uint64_t seed, at::Device device = at::kCPU);

  Prediction forward(const Batch& batch, const Steps& steps, const DropoutKey& dropout,
                     dist::GradientSynchronisation* synchronisation = nullptr) const override;
  std::unique_ptr<PrefixDecoder> begin_decoding(const Batch& batch, const Steps& steps,
                                                const DecodingShare& share) const override;

  // Only if there is one.
  const LstmStack& decoder() const { return *decoder_; }
  const LuongAttention& attention() const { return *attention_; }

 private:
  at::Tensor answers(const LstmStack::Read& encoded, const Batch& batch) const;
  /// The states [target rows, d] from which symbols are predicted. `encoded`: the source as read, null without one.
  at::Tensor decode(const LstmStack::Read* encoded, const Batch& batch, const DropoutKey& dropout) const;

  std::optional<LstmStack> encoder_;
  std::optional<LstmStack> decoder_;
  std::optional<LuongAttention> attention_;
};

}  // namespace ut::core
