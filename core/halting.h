#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <functional>
#include <string>

#include "core/kernels/dropout.h"
#include "core/options.h"
#include "core/parameters.h"
#include "core/stack_rows.h"

namespace ut::core {

/// Gives the halting probabilities [rows] float64 of the rows of a step (from 1), instead of a halting unit.
using HaltingDraw = std::function<at::Tensor(std::int64_t step, const dist::Rows& rows)>;

/// Says before each step how likely a position is to halt: one affine map and a sigmoid.
class HaltingUnit {
 public:
  HaltingUnit(Parameters& parameters, const std::string& name, const ModelOptions& options);

  /// `x` [local rows, d], the states with their signals -> [local rows] float64. `step` counts from 1. Collective for
  /// ActKind::global.
  at::Tensor probability(const at::Tensor& x, std::int64_t step, const StepRows& rows, const DropoutKey& dropout) const;

  /// From now on `draw` gives the probabilities.
  void replace(HaltingDraw draw) { draw_ = std::move(draw); }

 private:
  ActKind kind_;
  at::Tensor kernel_;  // [d, 1]; undefined for ActKind::random
  at::Tensor bias_;    // [1]
  HaltingDraw draw_;
};

/// The state of adaptive computation time for some rows (the papers' Appendix B), [rows] each. Probabilities, weights
/// and remainders are float64, so that decisions do not depend on the precision of the states.
class HaltingState {
 public:
  /// Rows that have not yet taken a step. `state` [rows, d].
  HaltingState(const at::Tensor& state, const HaltingOptions& options);

  /// Decides with `probability` [rows] which rows go on. `last`: none does, and this step gets the weight that is left.
  void decide(const at::Tensor& probability, bool last);
  /// Adds this step's states [rows, d] to the mean; after decide().
  void add_to_mean(const at::Tensor& state);

  /// The state with row number order[i] as row i. `order` [rows] int64.
  HaltingState in_order(const at::Tensor& order) const;
  /// The state of only the rows that go on; `stay` picks them from each part of the state [rows, ...].
  HaltingState of_running(const std::function<at::Tensor(const at::Tensor&)>& stay) const;

  const at::Tensor& running() const { return running_; }          // bool: takes a step after this one
  const at::Tensor& weight() const { return weight_; }            // of the last step's state
  const at::Tensor& probability() const { return probability_; }  // cumulative
  const at::Tensor& remainder() const { return remainder_; }
  const at::Tensor& updates() const { return updates_; }  // int64
  const at::Tensor& mean() const { return mean_; }        // [rows, d]
  at::Tensor cost() const;                                // N + R, which the loss penalises

 private:
  HaltingOptions options_;
  at::Tensor running_;
  at::Tensor weight_;
  at::Tensor probability_;
  at::Tensor remainder_;
  at::Tensor updates_;
  at::Tensor mean_;
};

}  // namespace ut::core
