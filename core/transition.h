#pragma once

#include <ATen/core/Tensor.h>

#include <memory>
#include <string>

#include "core/kernels/dropout.h"
#include "core/parameters.h"
#include "core/stack_rows.h"

namespace ut::core {

/// The part of a step that revises each position after attention (equation 4).
class Transition {
 public:
  virtual ~Transition() = default;

  /// `x` [local rows, d] -> [local rows, d]. `copied` [copied rows, d]: what others see here of rows that have just
  /// halted; undefined: there are none. `layer`: the number of the block's layer that this is part of. Collective where
  /// positions see their neighbours.
  virtual at::Tensor forward(const at::Tensor& x, const at::Tensor& copied, StepRows& rows, std::size_t layer,
                             const DropoutKey& dropout) const = 0;
};

/// `causal`: a position may look at earlier ones only (the decoder).
std::unique_ptr<Transition> make_transition(Parameters& parameters, const std::string& name,
                                            const ModelOptions& options, bool causal);

}  // namespace ut::core
