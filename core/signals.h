#pragma once

#include <ATen/core/Tensor.h>

#include "core/options.h"

namespace ut::core {

/// The sinusoidal signal of positions or of steps (equations 6 and 7, one of their two terms).
/// `index` [n] counts from 0; `interleaved` adds the 1 that the papers count from. Returns [n, d_model], computed in
/// float64.
at::Tensor sinusoid(const at::Tensor& index, std::int64_t d_model, Signal kind);

}  // namespace ut::core
