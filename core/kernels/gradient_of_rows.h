#pragma once

#include <ATen/core/Tensor.h>

namespace ut::core {

/// A gradient: to be added to if `filled`, else not initialised and to be written.
struct GradientOfRows {
  at::Tensor rows;
  bool filled;
};

/// A gradient of the sizes of `like`, in its dist::accumulation_type(): not initialised if all of it is going to be
/// `written`, else zeros.
GradientOfRows new_gradient(const at::Tensor& like, bool written);

}  // namespace ut::core
