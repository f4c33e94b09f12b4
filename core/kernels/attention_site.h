#pragma once

#include <cstdint>

#include "core/kernels/dropout.h"

namespace ut::core {

/// How attention is done in one place of a step.
struct AttentionSite {
  std::int64_t heads;
  double dropout_rate;  // of weights
  DropoutKey dropout;
  bool recomputed = false;  // where weights would be kept for the backward pass, it makes them again
};

}  // namespace ut::core
