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

  /// `x` [local rows, d] -> [local rows, d]. `copied` [copied rows, d]: the input of rows that have just halted, which
  /// only their neighbours see; undefined if there are none. `layer`: its layer's number in the block, from 0.
  /// Collective if positions see their neighbours.
  virtual at::Tensor forward(const at::Tensor& x, const at::Tensor& copied, StepRows& rows, std::size_t layer,
                             const DropoutKey& dropout) const = 0;
};

/// `causal`: a position sees only itself and earlier ones (in a decoder).
std::unique_ptr<Transition> make_transition(Parameters& parameters, const std::string& name,
                                            const ModelOptions& options, bool causal);

}  // namespace ut::core
