#pragma once

#include <ATen/core/Tensor.h>

namespace ut::core {

/// A gradient, and whether it is added to; else nothing is in it yet.
struct GradientOfRows {
  at::Tensor rows;
  bool filled;
};

/// Of dist::accumulation_type() of `like`; with nothing in it where all is going to be `written`, else zeros.
GradientOfRows new_gradient(const at::Tensor& like, bool written);

}  // namespace ut::core
