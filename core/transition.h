#pragma once

#include <ATen/core/Tensor.h>

#include <memory>
#include <string>

#include "core/dropout.h"
#include "core/parameters.h"
#include "dist/sequence_exchange.h"

namespace ut::core {

/// The part of a step that revises each position after attention (equation 4).
class Transition {
 public:
  virtual ~Transition() = default;

  /// `x` [rows, d] -> [rows, d]; the exchange's local rows say which row is which.
  virtual at::Tensor forward(const at::Tensor& x, const dist::SequenceExchange& exchange,
                             const DropoutKey& dropout) const = 0;
};

/// `causal`: a position may look at earlier ones only (the decoder).
std::unique_ptr<Transition> make_transition(Parameters& parameters, const std::string& name,
                                            const ModelOptions& options, bool causal);

}  // namespace ut::core
