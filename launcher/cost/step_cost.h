#pragma once

#include "launcher/cost/step_rows.h"
#include "launcher/cost/work_cost.h"

namespace ut::launcher {

/// How a layer of a step is computed: what stands in the code of core/, by its tensors read and written. Forward and
/// backward together.
class StepCost {
 public:
  /// `in_place`: attention over rows as they stand, block by block; else over heads' slots.
  StepCost(const core::ModelOptions& model, const Layout& layout, bool in_place, WorkCost& cost, Seconds& seconds)
      : model_(model), layout_(layout), in_place_(in_place), cost_(cost), seconds_(seconds), d_(real(model.d_model)) {}

  /// Signals, and where it halts the books of weights and states.
  void around(const StepRows& step, core::Halting halting);
  /// `stored`: keys and values stay from step to step, as act-copy has it.
  void self_attention(const StepRows& step, bool stored, bool causal);
  /// `memory`: source positions of a sequence.
  void cross_attention(const StepRows& step, double memory);
  void transition(double rows);

 private:
  void product(double rows, double inner, double columns);
  void touch(double elements, double times) { cost_.touch(elements, times, seconds_.element_wise); }
  /// Numbers are drawn and multiplied by, and once more in the backward pass.
  void dropout(double elements, double rate, double& part);
  /// Queries, results and so many keys and values go to their heads' places, and in the backward pass again.
  void move_heads(const StepRows& step, double keys_values);
  /// Dropout, sum, norm, and what comes back through both ways.
  void residual(double rows);
  /// Weights are made twice, blocks of them behind a causal mask never.
  void attention_in_place(const StepRows& step, bool causal);
  void attention(const StepRows& step, bool stored, bool biased);

  const core::ModelOptions& model_;
  const Layout& layout_;
  bool in_place_;
  WorkCost& cost_;
  Seconds& seconds_;
  double d_;
};

}  // namespace ut::launcher
