#pragma once

#include "core/kernels/attention_tiles.h"
#include "launcher/cost/step_rows.h"

namespace ut::launcher {

/// Predicts the bytes that a step's graph keeps until the backward pass, and those that a stack keeps once.
class StackMemory {
 public:
  /// `on_host`: the host never keeps attention's weights. GPUs do not keep them either if heads are narrow enough for
  /// their attention kernels.
  StackMemory(const core::ModelOptions& model, std::int64_t sequence_parallel, bool on_host, double number_bytes)
      : model_(model),
        sharing_(real(sequence_parallel)),
        keeps_no_weights_(on_host || model.d_model / model.heads <= core::most_head_columns<float>),
        number_(number_bytes),
        d_(real(model.d_model)),
        convolves_(model.transition == core::TransitionKind::separable_convolution) {}

  /// Bytes kept of a step until it is made again, if whole steps are.
  double kept(const StepRows& step) const;
  /// Bytes kept of one layer of a step. `stored`: keys and values stay in place, see store().
  double layer(const StepRows& step, bool stored, const MemoryRows& memory) const;
  /// Bytes of a layer's keys and values, kept in place, and of their gradients; and of the states that convolutions
  /// look at.
  double store(const StepRows& first) const { return (convolves_ ? 6 : 4) * first.key_rows * d_ * number_; }

 private:
  static bool drops(double rate) { return rate > 0; }
  double attention(const StepRows& step, bool stored) const;
  double transition(const StepRows& step) const;

  const core::ModelOptions& model_;
  double sharing_;         // ranks that share a sequence
  bool keeps_no_weights_;  // attention's weights are never kept
  double number_;
  double d_;
  bool convolves_;
};

}  // namespace ut::launcher
