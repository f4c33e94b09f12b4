#pragma once

#include "launcher/cost/step_rows.h"
#include "launcher/cost/work_cost.h"

namespace ut::launcher {

/// Adds up the cost of a layer of a step, forward and backward together, by the tensors that the code in core/ reads
/// and writes.
class StepCost {
 public:
  /// `attends_in_place`: attention reads rows where they are, block by block; otherwise they are moved to slots of
  /// heads.
  StepCost(const core::ModelOptions& model, const Layout& layout, bool attends_in_place, WorkCost& cost,
           Seconds& seconds)
      : model_(model),
        layout_(layout),
        attends_in_place_(attends_in_place),
        cost_(cost),
        seconds_(seconds),
        d_(real(model.d_model)) {}

  /// Signals and, in a stack that halts, keeping account of weights and states.
  void around(const StepRows& step, core::Halting halting);
  /// `stored`: keys and values stay from step to step, as with act-copy.
  void self_attention(const StepRows& step, bool stored, bool causal);
  void cross_attention(const StepRows& step, const MemoryRows& memory);
  void transition(const StepRows& step);

 private:
  void product(double rows, double inner, double columns);
  void add_element_wise(double elements, double times) {
    cost_.add_element_wise(elements, times, seconds_.element_wise);
  }
  /// Numbers are drawn and multiplied by, in the forward and in the backward pass.
  void dropout(double elements, double rate, double& part);
  /// Queries, results and `keys_values` keys and values move to their heads' slots, in both passes.
  void move_heads(const StepRows& step, double keys_values);
  /// Dropout, sum, norm, and the gradients of both branches.
  void residual(double rows);
  /// Weights are made twice; blocks of them that a causal mask hides are never made.
  void attention_in_place(const StepRows& step, bool causal);
  void attention(const StepRows& step, bool stored, bool causal);

  const core::ModelOptions& model_;
  const Layout& layout_;
  bool attends_in_place_;
  WorkCost& cost_;
  Seconds& seconds_;
  double d_;
};

}  // namespace ut::launcher
