#pragma once

#include <vector>

#include "core/recurrence.h"
#include "tests/golden/comparison.h"

namespace ut::golden {

/// What a stack computed, step by step.
struct StackTrace {
  std::vector<at::Tensor> states;          // [steps][rows, d]
  std::vector<core::HaltingState> ponder;  // [steps]; empty without halting
  std::vector<at::Tensor> probabilities;   // [steps][rows]; empty without halting
  core::StackOutput output;

  /// Records every step in this trace.
  core::StepObserver observer();
  /// What halting adds to the loss, with the case's weight. Scalar, float64; undefined without halting.
  at::Tensor act_loss(const Case& golden) const;
};

/// Compares the trace with the case's arrays of `stack` ("enc/", "dec/"), if it has them. The trace's rows are the rows
/// number `rows` of the authors' [sequences * length].
void compare_trace(Comparison& comparison, const std::string& stack, const StackTrace& trace, const at::Tensor& rows);

/// Rows of one of the authors' arrays [..., sequences, length, ...], in which `axis` is that of the sequences.
at::Tensor rows_of_array(const at::Tensor& array, std::int64_t axis, const at::Tensor& rows);

/// The noise that took the place of the halting unit in a case of act_type random. The array [steps, sequences, length]
/// is drawn from for all rows, which must be all the authors' rows.
core::HaltingDraw recorded_noise(const Case& golden);

}  // namespace ut::golden
