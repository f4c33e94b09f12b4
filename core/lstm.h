#pragma once

#include <optional>

#include "core/attention_layout.h"
#include "core/lstm_stack.h"
#include "core/model.h"

namespace ut::core {

/// Luong et al. 2015: global attention with the `general` score, scaled as the Transformer's, and the attentional
/// vector tanh(W [context; h]). It is not fed back into the decoder, so that all positions go through at once.
class LuongAttention {
 public:
  LuongAttention(Parameters& parameters, const std::string& name, const ModelOptions& options);

  /// `states` [rows, d] of the decoder, `memory` [source rows, 2d] as remember() gives it -> [rows, d].
  at::Tensor attend(const at::Tensor& states, const at::Tensor& memory, const AttentionLayout& layout) const;
  /// What attend() sees of the encoder's states [source rows, d].
  static at::Tensor remember(const at::Tensor& encoded);

 private:
  at::Tensor query_;    // [d, d]
  at::Tensor combine_;  // [2d, d]
};

/// The baseline of the papers' tables: layers of long short-term memory that read the source in order, and for targets
/// as many that start where the encoder ended and attend to its outputs. Tables as the Universal Transformer has them.
/// Positions and steps mean nothing to it. An answer (encoder alone) is read at a sequence's last row, when all has
/// been read: the question comes first, so that it is known by then what matters. A decoder alone begins with nothing
/// and attends to nothing. Every sequence must be on one rank.
class Lstm final : public Model {
 public:
  Lstm(const ModelOptions& options, std::uint64_t seed, at::Device device = at::kCPU);

  Prediction forward(const Batch& batch, const Steps& steps, const DropoutKey& dropout,
                     dist::GradientSynchronisation* synchronisation = nullptr) const override;
  std::unique_ptr<PrefixDecoder> begin_decoding(const Batch& batch, const Steps& steps,
                                                const DecodingShare& share) const override;

  // Where there is one.
  const LstmStack& decoder() const { return *decoder_; }
  const LuongAttention& attention() const { return *attention_; }

 private:
  at::Tensor answers(const LstmStack::Read& encoded, const Batch& batch) const;
  /// The states that symbols are told by [target rows, d]; `encoded`: of the source, where there is one.
  at::Tensor decode(const LstmStack::Read* encoded, const Batch& batch, const DropoutKey& dropout) const;

  std::optional<LstmStack> encoder_;
  std::optional<LstmStack> decoder_;
  std::optional<LuongAttention> attention_;
};

}  // namespace ut::core
