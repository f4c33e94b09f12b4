#pragma once

#include <ATen/core/Tensor.h>

namespace ut::core {

/// A gradient: to be added to if it `accumulates`, else not initialised and to be written.
struct GradientOfRows {
  at::Tensor rows;
  bool accumulates;
};

/// A gradient of the sizes of `like`, in its dist::accumulation_type(): not initialised if it is going to be
/// `fully_written`, else zeros.
GradientOfRows new_gradient(const at::Tensor& like, bool fully_written);

}  // namespace ut::core
