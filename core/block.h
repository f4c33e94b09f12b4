#pragma once

#include <ATen/core/Tensor.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/attention.h"
#include "core/dropout.h"
#include "core/normalisation.h"
#include "core/transition.h"
#include "dist/sequence_exchange.h"

namespace ut::core {

/// What a decoder's block sees of the encoder: keys and values of all source positions, made once for a batch, since
/// neither the memory nor the tied projections change from step to step.
struct Memory {
  std::vector<at::Tensor> keys_values;  // for each layer of the block [source rows, 2d]
  AttentionLayout layout;               // decoder rows over source rows
};

/// The rows that a stack works on, and how its positions see one another.
struct StackRows {
  const dist::SequenceExchange& exchange;
  AttentionLayout layout;  // local rows over all rows of the same sequences

  StackRows(const dist::SequenceExchange& rows, bool causal)
      : exchange(rows), layout(rows.local(), rows.all(), causal) {}
};

/// One layer: self-attention, in the decoder attention over the encoder, transition; each with residual, dropout and
/// normalisation. Its parts are public so that a caller can put another transition in.
struct Layer {
  Layer(Parameters& parameters, const std::string& name, const ModelOptions& options, bool decoder);

  SelfAttention self_attention;
  LayerNorm self_attention_norm;
  std::optional<CrossAttention> cross_attention;
  std::optional<LayerNorm> cross_attention_norm;
  std::unique_ptr<Transition> transition;
  LayerNorm transition_norm;
};

/// The tied block: what a stack applies again and again (equations 4 and 5).
class Block {
 public:
  Block(Parameters& parameters, const std::string& name, const ModelOptions& options, bool decoder);

  /// One step. `state` [rows, d] is H of the step before, `signal` [rows, d] is P of this step; `memory` for a
  /// decoder. Returns H of this step [rows, d].
  at::Tensor step(const at::Tensor& state, const at::Tensor& signal, const StackRows& rows, const Memory* memory,
                  const DropoutKey& dropout) const;

  /// For a decoder's block: what it will see of the encoder's final rows `encoded` [local source rows, d].
  Memory remember(const at::Tensor& encoded, const dist::SequenceExchange& source,
                  const dist::Rows& decoder_rows) const;

  std::vector<Layer>& layers() { return layers_; }

 private:
  at::Tensor attend_to_self(const Layer& layer, const at::Tensor& input, const StackRows& rows,
                            const DropoutKey& key) const;
  at::Tensor attend_to_memory(const Layer& layer, const at::Tensor& input, const at::Tensor& keys_values,
                              const Memory& memory, const DropoutKey& key) const;
  /// Norm and residual around a sub-layer: LN(x + f(input)) or x + f(LN(input)), dropout on what f gives.
  template <class SubLayer>
  at::Tensor around(const LayerNorm& norm, const at::Tensor& x, const at::Tensor& input, Site site,
                    const StackRows& rows, const DropoutKey& key, const SubLayer& f) const;

  ModelOptions options_;
  std::vector<Layer> layers_;
};

}  // namespace ut::core
