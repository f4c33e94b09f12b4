#pragma once

#include <ATen/core/Tensor.h>

#include <functional>
#include <optional>
#include <string>
#include <utility>

#include "core/block.h"
#include "core/halting.h"
#include "core/shared_rows.h"

namespace ut::core {

/// The output of a stack.
struct StackOutput {
  at::Tensor state;    // [rows, d]
  at::Tensor updates;  // [rows] int64: the steps that each row took
  at::Tensor cost;     // [rows] float64: ponder time, updates + remainder; undefined without halting. It must be part
                       // of the loss on all ranks or on none, because its backward pass is collective
};

/// Functions to call while a stack runs; either may be empty.
struct StepObserver {
  /// Called after every step with its number, from 1, the rows that it revised and their states [rows, d]. With halting
  /// also with their halting state, this step included, and the probabilities [rows] that the halting unit gave; else
  /// null and undefined.
  std::function<void(std::int64_t step, const dist::Rows& rows, const at::Tensor& state, const HaltingState* ponder,
                     const at::Tensor& probability)>
      step;
  /// Called when the backward pass has gone through a step, or through several that it recomputes together.
  std::function<void()> step_backward;
};

/// A stack: one tied block, applied again and again to all positions in parallel. Encoder and decoder are each one.
class Recurrence {
 public:
  /// `name` is "encoder" or "decoder"; `steps` is T in training, and the number of rows of a learned step table.
  Recurrence(Parameters& parameters, const std::string& name, const ModelOptions& options, std::int64_t steps,
             bool decoder);

  /// Revises H^0 `steps` times; with halting at least once and at most `steps` times. `state` [rows, d]: H^0.
  /// `position` [rows] int64: from 0, random offset included. `rows`: fresh, such as make_rows() gives them. `memory`:
  /// for a decoder with an encoder, else null. Collective. Throws base::BadInput if `steps` is more than a learned step
  /// signal has.
  StackOutput forward(const at::Tensor& state, const at::Tensor& position, std::int64_t steps, StackRows& rows,
                      const Memory* memory, const DropoutKey& dropout, const StepObserver& observer = {}) const;

  /// The rows of an exchange, in a set of the kind that this stack's halting needs. Both arguments must outlive it.
  std::shared_ptr<StackRows> make_rows(const dist::SequenceExchange& exchange, const Memory* memory) const;

  Halting halting() const { return decoder_ ? options_.halting.decoder : options_.halting.encoder; }
  Block& block() { return block_; }
  const Block& block() const { return block_; }
  /// Makes `draw` decide instead of the halting unit. Only for a stack with halting.
  void replace_halting_unit(HaltingDraw draw) { halting_unit_->replace(std::move(draw)); }

 private:
  struct StepRange {
    std::int64_t first;  // from 1
    std::int64_t last;
  };

  /// The signals of rows' positions, computed once. For the rows that go on only indices into them are kept, since the
  /// backward pass may need the signals of every step.
  class PositionSignals {
   public:
    explicit PositionSignals(at::Tensor made) : made_(std::move(made)) {}

    at::Tensor all() const { return place_.defined() ? made_.index_select(0, place_) : made_; }  // [rows, d]
    /// The signals of only the rows with these numbers [n] int64.
    PositionSignals select(const at::Tensor& rows) const;

   private:
    at::Tensor made_;
    at::Tensor place_;  // [rows] int64: where in made_; undefined: all, in order
  };

  /// Rows that have not left, and what is kept for each of them.
  struct Unhalted {
    at::Tensor state;     // [rows, d]
    at::Tensor position;  // [rows] int64
    PositionSignals position_signal;
    HaltingState ponder;
  };
  class HaltedRows;

  /// Whether halted rows leave the set of running rows.
  bool halted_rows_leave() const { return halting() == Halting::act_copy; }
  StackOutput run_fixed_steps(at::Tensor state, const at::Tensor& position, std::int64_t steps, StackRows& rows,
                              const SharedRows& memory, const DropoutKey& stack, const StepObserver& observer) const;
  StackOutput run_until_halted(const at::Tensor& input, const at::Tensor& position, std::int64_t steps, StackRows& rows,
                               const SharedRows& memory, const DropoutKey& stack, const StepObserver& observer) const;
  /// Takes the step's states into the means. If halted rows leave, moves them from `unhalted` to `halted`.
  /// `later_step_signals` [steps not yet taken, d]. Returns what the next step copies of the rows that left.
  /// Collective.
  NewlyHalted compact(Unhalted& unhalted, HaltedRows& halted, StackRows& rows,
                      const at::Tensor& later_step_signals) const;
  /// The input of one or more steps; also with the first step's signals, if they have been added already.
  struct StepInput {
    at::Tensor state;              // [rows, d]
    at::Tensor with_signals = {};  // [rows, d]; undefined: still to be computed
  };
  /// Takes steps range.first to range.last, all of the same rows, and returns their state [rows, d]. With
  /// Recompute::step the backward pass takes them again. `step_signal` [steps, d]. `copied`: see Block::step().
  at::Tensor run_steps(const StepRange& range, const StepInput& input, const PositionSignals& position_signal,
                       const at::Tensor& step_signal, const std::shared_ptr<StepRows>& rows, const NewlyHalted& copied,
                       const SharedRows& memory, const DropoutKey& stack) const;
  /// The probability with which each row halts after this step: [running rows] float64. `step_signal` [d].
  at::Tensor halting_probability(const StepInput& input, const PositionSignals& position_signal,
                                 const at::Tensor& step_signal, std::int64_t step,
                                 const std::shared_ptr<StepRows>& rows, const DropoutKey& key) const;
  PositionSignals position_signals(const at::Tensor& position, const at::Tensor& like) const;
  at::Tensor step_signals(std::int64_t steps, const at::Tensor& like) const;  // [steps, d]

  ModelOptions options_;
  bool decoder_;
  Block block_;
  std::optional<LayerNorm> final_norm_;  // pre-norm only
  at::Tensor step_table_;                // [steps, d]; learned step signals only
  std::optional<HaltingUnit> halting_unit_;
};

}  // namespace ut::core
