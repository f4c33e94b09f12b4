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

/// What a stack made of its rows.
struct StackOutput {
  at::Tensor state;    // [rows, d]
  at::Tensor updates;  // [rows] int64: the steps that each row took
  at::Tensor cost;     // [rows] float64: its ponder time, updates + remainder; undefined without halting. To be part of
                       // the loss on all ranks or on none: its backward pass is collective
};

/// Who looks on, where there is one.
struct StepObserver {
  /// Called after every step with its number from 1, the rows that it revised, their states [rows, d] and, with
  /// halting, what each comes to and the probability [rows] that the unit gave it.
  std::function<void(std::int64_t step, const dist::Rows& rows, const at::Tensor& state, const HaltingState* ponder,
                     const at::Tensor& probability)>
      step;
  /// Called when the backward pass has gone through a step, or through some that it makes again together.
  std::function<void()> step_backward;
};

/// A stack: one tied block, applied again and again to all positions in parallel. Encoder and decoder are each one.
class Recurrence {
 public:
  /// `name` is "encoder" or "decoder"; `steps` is T in training, and the rows of the step table where it is learned.
  Recurrence(Parameters& parameters, const std::string& name, const ModelOptions& options, std::int64_t steps,
             bool decoder);

  /// Revises H^0 `steps` times, or with halting at most so often, once at least. `state` [rows, d]; `position` [rows]
  /// int64, from 0, offset included; `rows` as make_rows() gives them, at their start; `memory` for a decoder with an
  /// encoder. Collective. Throws base::BadInput where more steps are asked for than a learned step signal has.
  StackOutput forward(const at::Tensor& state, const at::Tensor& position, std::int64_t steps, StackRows& rows,
                      const Memory* memory, const DropoutKey& dropout, const StepObserver& observer = {}) const;

  /// The rows of an exchange as this stack's halting needs them. Both arguments must outlive them.
  std::shared_ptr<StackRows> make_rows(const dist::SequenceExchange& exchange, const Memory* memory) const;

  Halting halting() const { return decoder_ ? options_.halting.decoder : options_.halting.encoder; }
  Block& block() { return block_; }
  const Block& block() const { return block_; }
  /// Decides in the halting unit's stead; where rows halt.
  void replace_halting_unit(HaltingDraw draw) { halting_unit_->replace(std::move(draw)); }

 private:
  struct StepRange {
    std::int64_t first;  // from 1
    std::int64_t last;
  };

  /// The signals of rows' positions, made once: of rows that go on only where theirs stand is kept, since the backward
  /// pass may ask for those of every step.
  class PositionSignals {
   public:
    explicit PositionSignals(at::Tensor made) : made_(std::move(made)) {}

    at::Tensor all() const { return place_.defined() ? made_.index_select(0, place_) : made_; }  // [rows, d]
    /// Of the rows with these numbers [n] int64.
    PositionSignals of(const at::Tensor& rows) const;

   private:
    at::Tensor made_;
    at::Tensor place_;  // [rows] int64; undefined: as they were made
  };

  /// Rows that have not left, and what is kept beside each of them.
  struct Unhalted {
    at::Tensor state;     // [rows, d]
    at::Tensor position;  // [rows] int64
    PositionSignals position_signal;
    HaltingState ponder;
  };
  class HaltedRows;

  /// Whether rows that halt leave.
  bool halted_leave() const { return halting() == Halting::act_copy; }
  StackOutput run_fixed_steps(at::Tensor state, const at::Tensor& position, std::int64_t steps, StackRows& rows,
                              const SharedRows& memory, const DropoutKey& stack, const StepObserver& observer) const;
  StackOutput run_until_halted(const at::Tensor& input, const at::Tensor& position, std::int64_t steps, StackRows& rows,
                               const SharedRows& memory, const DropoutKey& stack, const StepObserver& observer) const;
  /// Takes the step's states into the means, and where rows that halt leave, those out of `unhalted` into `halted`.
  /// `later_step_signals` [steps not yet made, d]. Returns what the next step copies of those that left. Collective.
  Copied compact(Unhalted& unhalted, HaltedRows& halted, StackRows& rows, const at::Tensor& later_step_signals) const;
  /// The input of steps; of the first one also with its signals, where they have been added already.
  struct StepInput {
    at::Tensor state;              // [rows, d]
    at::Tensor with_signals = {};  // [rows, d]; undefined: to be made
  };
  /// Steps first to last, of the same rows; made again in the backward pass where that is asked for. `copied`: see
  /// Block::step().
  at::Tensor run_steps(const StepRange& some, const StepInput& input, const PositionSignals& position_signal,
                       const at::Tensor& step_signal, const std::shared_ptr<StepRows>& rows, const Copied& copied,
                       const SharedRows& memory, const DropoutKey& stack) const;
  /// With which each row halts after this step. `step_signal` [d]. [running rows] float64
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
