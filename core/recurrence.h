#pragma once

#include <ATen/core/Tensor.h>

#include <functional>
#include <optional>
#include <string>

#include "core/block.h"

namespace ut::core {

/// A stack: one tied block, applied T times to all positions in parallel. Encoder and decoder are each one.
class Recurrence {
 public:
  /// `name` is "encoder" or "decoder"; `steps` is T in training, and the rows of the step table where it is learned.
  Recurrence(Parameters& parameters, const std::string& name, const ModelOptions& options, std::int64_t steps,
             bool decoder);

  /// H^T from H^0. `state` [rows, d]; `position` [rows] int64, from 0, offset included; `memory` for a decoder.
  /// After every step `watch`, if given, is called with the step's number from 1 and its state.
  /// Throws base::BadInput where more steps are asked for than a learned step signal has.
  at::Tensor forward(at::Tensor state, const at::Tensor& position, std::int64_t steps, const StackRows& rows,
                     const Memory* memory, const DropoutKey& dropout,
                     const std::function<void(std::int64_t, const at::Tensor&)>& watch = {}) const;

  Block& block() { return block_; }
  const Block& block() const { return block_; }

 private:
  at::Tensor step_signals(std::int64_t steps) const;  // [steps, d]

  ModelOptions options_;
  bool decoder_;
  Block block_;
  std::optional<LayerNorm> final_norm_;  // pre-norm only
  at::Tensor step_table_;                // [steps, d]; learned step signals only
};

}  // namespace ut::core
