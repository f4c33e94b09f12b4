#pragma once

#include "core/kernels/attention_tiles.h"
#include "launcher/cost/step_rows.h"

namespace ut::launcher {

/// Bytes that a step's graph keeps until the backward pass, and what a stack keeps once.
class StackMemory {
 public:
  /// `on_host`: and not on GPUs, whose kernels of attention are for heads that are not too wide.
  StackMemory(const core::ModelOptions& model, std::int64_t sequence_parallel, bool on_host, double number_bytes)
      : model_(model),
        sharing_(real(sequence_parallel)),
        in_place_(on_host || model.d_model / model.heads <= core::most_head_columns<float>),
        number_(number_bytes),
        d_(real(model.d_model)),
        convolves_(model.transition == core::TransitionKind::separable_convolution) {}

  /// Where whole steps are made again, what is kept until then.
  double kept(const StepRows& step) const;
  /// Of a step's layer. `stored`: keys and values stay in place, see store(); `memory_keys`: source positions of a
  /// sequence that it attends to, 0 where there are none.
  double layer(const StepRows& step, bool stored, double memory_keys) const;
  /// Of a layer, where keys and values are kept in place: they and their gradients.
  double store(const StepRows& first) const { return 4 * first.sequences * first.keys * d_ * number_; }

 private:
  static bool dropped(double rate) { return rate > 0; }
  double attention(const StepRows& step, bool stored) const;
  /// Numbers of a row.
  double transition() const;

  const core::ModelOptions& model_;
  double sharing_;  // ranks that share a sequence
  bool in_place_;   // attention's weights are never kept
  double number_;
  double d_;
  bool convolves_;
};

}  // namespace ut::launcher
