#pragma once

#include <vector>

#include "core/recurrence.h"
#include "tests/golden/comparison.h"

namespace ut::golden {

/// What a stack went through.
struct StackTrace {
  std::vector<at::Tensor> states;          // [steps][rows, d]
  std::vector<core::HaltingState> ponder;  // [steps]; empty without halting
  std::vector<at::Tensor> probabilities;   // [steps][rows]; likewise
  core::StackOutput output;

  /// Keeps every step.
  core::StepObserver observer();
  /// What halting adds to the loss, for the weight that the case has. Scalar, float64; undefined without halting.
  at::Tensor act_loss(const Case& golden) const;
};

/// The trace's rows, which are rows number `rows` of the authors' [sequences * length], against the case's arrays of
/// `stack` ("enc/", "dec/"), if it has them.
void compare_trace(Comparison& comparison, const std::string& stack, const StackTrace& trace, const at::Tensor& rows);

/// Rows of one of the authors' arrays [sequences, length, ...], whose first two axes begin at `axis`.
at::Tensor rows_of_array(const at::Tensor& array, std::int64_t axis, const at::Tensor& rows);

/// The noise that stood in for the halting unit in a case of act_type random. [steps, sequences, length] -> draw of all
/// rows, which are all the authors' rows.
core::HaltingDraw recorded_noise(const Case& golden);

}  // namespace ut::golden
