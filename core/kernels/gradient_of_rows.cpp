#include "core/kernels/gradient_of_rows.h"

#include <ATen/ATen.h>

#include "dist/accumulation_type.h"

namespace ut::core {

GradientOfRows new_gradient(const at::Tensor& like, bool fully_written) {
  const auto options = like.options().dtype(dist::accumulation_type(like.scalar_type()));
  return {fully_written ? at::empty(like.sizes(), options) : at::zeros(like.sizes(), options), !fully_written};
}

}  // namespace ut::core
