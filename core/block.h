#pragma once

#include <ATen/core/Tensor.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/attention.h"
#include "core/kernels/dropout.h"
#include "core/normalisation.h"
#include "core/stack_rows.h"
#include "core/transition.h"

namespace ut::core {

/// Rows that halted in the step before this one. From now on others see this state of them. Undefined if there are
/// none.
struct NewlyHalted {
  at::Tensor state;   // [copied rows, d]
  at::Tensor signal;  // [copied rows, d]: P of this step
};

/// One layer: self-attention; in a decoder with an encoder, attention over the encoder's rows; transition. Each has
/// residual, dropout and normalisation. The members are public so that a caller can put in another transition.
struct Layer {
  Layer(Parameters& parameters, const std::string& name, const ModelOptions& options, bool decoder);

  Attention self_attention;
  LayerNorm self_attention_norm;
  std::optional<Attention> cross_attention;
  std::optional<LayerNorm> cross_attention_norm;
  std::unique_ptr<Transition> transition;
  LayerNorm transition_norm;
};

/// The tied block: what a stack applies again and again (equations 4 and 5).
class Block {
 public:
  Block(Parameters& parameters, const std::string& name, const ModelOptions& options, bool decoder);

  /// One step. `state` [local rows, d] is H of the step before, `with_signals` [local rows, d] is H + P, with P the
  /// signals of position and step. `memory` [layers]: in a decoder with an encoder, keys beside values of the encoder's
  /// rows [source rows, 2d]. `copied`: seen by all layers, revised by none. Returns H of this step [local rows, d].
  /// Collective.
  at::Tensor step(const at::Tensor& state, const at::Tensor& with_signals, StepRows& rows,
                  const std::vector<at::Tensor>& memory, const DropoutKey& dropout,
                  const NewlyHalted& copied = {}) const;

  /// For the block of a decoder with an encoder: what it will see of `encoded` [local source rows, d], the encoder's
  /// final rows. Collective.
  Memory remember(const at::Tensor& encoded, const dist::SequenceExchange& source) const;

  std::vector<Layer>& layers() { return layers_; }

 private:
  /// The input of a sub-layer. Copied rows only supply keys, values and convolution windows; they have no output.
  struct SubLayerInput {
    at::Tensor rows;         // [local rows, d]
    at::Tensor copied = {};  // [copied rows, d]; undefined: none
  };

  at::Tensor attend_to_self(std::size_t layer, const SubLayerInput& input, StepRows& rows, const DropoutKey& key) const;
  at::Tensor attend_to_memory(std::size_t layer, const at::Tensor& input, const at::Tensor& keys_values,
                              const AttentionLayout& layout, const DropoutKey& key) const;
  AttentionSite attention_site(const DropoutKey& key, Site site) const;
  /// LN(x + f(input)) or x + f(LN(input)), with dropout on the output of the sub-layer f.
  template <class SubLayer>
  at::Tensor with_residual_and_norm(const LayerNorm& norm, const at::Tensor& x, const SubLayerInput& input, Site site,
                                    const dist::Rows& local, const DropoutKey& key, const SubLayer& f) const;

  ModelOptions options_;
  bool decoder_;
  std::vector<Layer> layers_;
};

}  // namespace ut::core
