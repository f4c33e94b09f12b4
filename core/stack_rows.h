#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "core/attention_layout.h"
#include "core/exchanged_attention.h"
#include "core/windows.h"
#include "dist/running_exchange.h"
#include "dist/sequence_exchange.h"

namespace ut::core {

/// What a decoder's block sees of the encoder: keys and values of all source positions, made once for a batch, since
/// neither the memory nor the tied projections change from step to step.
struct Memory {
  std::vector<at::Tensor> keys_values;  // for each layer of the block [source rows, 2d]
  dist::Rows rows;                      // of the source
};

/// The rows that one step revises, and how they see one another. They do not change when rows leave the stack's set, so
/// that the backward pass can recompute the step.
class StepRows {
 public:
  virtual ~StepRows() = default;

  virtual const dist::Rows& local() const = 0;
  /// Local rows over the rows of a memory; only if there is one.
  virtual const AttentionLayout& memory_layout() const = 0;

  /// What attend() sends for a row: its state, or its key and value.
  virtual dist::Sent sent_kind() const = 0;
  /// A layer's attention of the local rows over all rows that they may see. `sent` [local rows, then copied rows; 2d,
  /// or d if states are sent]. To be called once for each layer. Returns the heads' outputs [local rows, d].
  /// Collective.
  virtual at::Tensor attend(std::size_t layer, const at::Tensor& sent, const AttentionCall& call) = 0;
  /// What a layer's two convolutions look at. `x` [local rows, then copied rows, c]: the input of the first.
  /// Collective.
  virtual Windows windows(std::size_t layer, const at::Tensor& x, const Reach& first, const Reach& second) = 0;
  /// For each local row the mean of `values` [local rows] over the rows of its sequence that this step revises: [local
  /// rows]. Collective.
  virtual at::Tensor mean_over_sequence(const at::Tensor& values) const = 0;
};

/// The rows that a stack revises step by step. A row that has halted and is still seen by others is copied: in the step
/// after it halted, and only then, its final state is sent along with the local rows' states.
class StackRows : public std::enable_shared_from_this<StackRows> {
 public:
  virtual ~StackRows() = default;

  /// The rows that the next step revises.
  virtual std::shared_ptr<StepRows> step() = 0;

  /// Begins to tell the ranks that share these sequences which local rows run on: `running` [local rows] bool. From a
  /// device, the flags are copied to the host while work goes on, and finish_compaction() sends them.
  virtual void start_compaction(const at::Tensor& running) = 0;
  /// Finishes what start_compaction() began. Halted rows leave if this is a set of running rows; else all stay.
  /// Collective.
  virtual dist::Compaction finish_compaction() = 0;
  /// Whether a row of these sequences runs on any of the ranks; after finish_compaction().
  virtual bool any_running() const = 0;
  /// Brings `values` of the rows that stayed [still rows, ...] to where those rows are now: [local rows, ...].
  /// Collective.
  virtual at::Tensor move_with_rows(const at::Tensor& values) const = 0;
  /// Whether the last compaction has moved rows between ranks.
  virtual bool has_moved() const = 0;
  /// Brings values of the rows that halted on this rank [halted rows, ...], in the order in which they halted, to the
  /// rows that this rank began with, in their order. Collective.
  virtual at::Tensor return_to_initial_rows(const at::Tensor& halted) const = 0;
};

/// For stacks whose rows are the same in every step, or whose steps are never recomputed: the set of rows is itself the
/// current step.
class CurrentRows : public StackRows, public StepRows {
 public:
  std::shared_ptr<StepRows> step() override { return {shared_from_this(), this}; }
};

}  // namespace ut::core
