#pragma once

#include <cstdint>

#include "core/kernels/dropout.h"

namespace ut::core {

/// How attention is computed in one place of a step.
struct AttentionSite {
  std::int64_t heads;
  double dropout_rate;  // of weights
  DropoutKey dropout;
  bool recomputed = false;  // the backward pass recomputes weights that would otherwise be kept for it
};

}  // namespace ut::core
