#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <string>

#include "core/kernels/dropout.h"
#include "core/parameters.h"

namespace ut::core {

/// Layer normalisation over the columns of a row (Ba et al., 2016), with biased variance and the authors' epsilon,
/// 1e-6.
class LayerNorm {
 public:
  LayerNorm(Parameters& parameters, const std::string& name, std::int64_t d_model);

  at::Tensor operator()(const at::Tensor& x) const;  // [rows, d] -> [rows, d]

  /// Normalises x + dropout(y), all [rows, d], in one pass forward and one backward.
  at::Tensor of_sum(const at::Tensor& x, const at::Tensor& y, double rate, const DropoutKey& key,
                    const dist::Rows& rows) const;

 private:
  at::Tensor scale_;  // [d]
  at::Tensor bias_;   // [d]
};

}  // namespace ut::core
