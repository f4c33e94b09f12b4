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

/// Rows that halted in the step before this one, and are seen by others from now on as they are then; undefined where
/// there are none.
struct Copied {
  at::Tensor state;   // [copied rows, d]
  at::Tensor signal;  // [copied rows, d]: P of this step
};

/// One layer: self-attention, in a decoder that has an encoder attention over that, transition; each with residual,
/// dropout and normalisation. Its parts are public so that a caller can put another transition in.
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

  /// One step. `state` [local rows, d] is H of the step before, `with_signals` [local rows, d] H + P, where P says
  /// where a row is and which step this is; `memory` [layers]: for a decoder with an encoder, keys and values of its
  /// rows; each layer passes `copied` on unchanged. Returns H of this step [local rows, d]. Collective.
  at::Tensor step(const at::Tensor& state, const at::Tensor& with_signals, StepRows& rows,
                  const std::vector<at::Tensor>& memory, const DropoutKey& dropout, const Copied& copied = {}) const;

  /// For the block of a decoder with an encoder: what it will see of the encoder's final rows `encoded` [local source
  /// rows, d]. Collective.
  Memory remember(const at::Tensor& encoded, const dist::SequenceExchange& source) const;

  std::vector<Layer>& layers() { return layers_; }

 private:
  /// What a sub-layer is given. Of copied rows only keys, values and windows are made; they have no output.
  struct SubLayerInput {
    at::Tensor rows;         // [local rows, d]
    at::Tensor copied = {};  // [copied rows, d]; undefined: none
  };

  at::Tensor attend_to_self(std::size_t layer, const SubLayerInput& input, StepRows& rows, const DropoutKey& key) const;
  at::Tensor attend_to_memory(std::size_t layer, const at::Tensor& input, const at::Tensor& keys_values,
                              const AttentionLayout& layout, const DropoutKey& key) const;
  AttentionSite attention_site(const DropoutKey& key, Site site) const;
  /// LN(x + f(input)) or x + f(LN(input)), dropout on what the sub-layer f gives.
  template <class SubLayer>
  at::Tensor with_residual_and_norm(const LayerNorm& norm, const at::Tensor& x, const SubLayerInput& input, Site site,
                                    const dist::Rows& local, const DropoutKey& key, const SubLayer& f) const;

  ModelOptions options_;
  bool decoder_;
  std::vector<Layer> layers_;
};

}  // namespace ut::core
