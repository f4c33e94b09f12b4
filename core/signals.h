#pragma once

#include <ATen/core/Tensor.h>

#include "core/options.h"

namespace ut::core {

/// The sinusoidal signal of positions or of steps: one of the two terms of equations 6 and 7. `index` [n] counts from
/// 0; Signal::interleaved adds 1, because the papers count from 1. Returns [n, d_model] float64.
at::Tensor sinusoid(const at::Tensor& index, std::int64_t d_model, Signal kind);

}  // namespace ut::core
