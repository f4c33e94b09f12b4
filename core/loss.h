#pragma once

#include <ATen/core/Tensor.h>

namespace ut::core {

/// Label-smoothed cross entropy, summed over rows: 1 - smoothing on the label and the rest spread evenly over the
/// other symbols, less the smoothed distribution's own entropy, so that a perfect fit gives 0 (the authors' form).
/// `logits` [rows, vocabulary], `labels` [rows] int64 -> scalar. The caller divides by the update's global number of
/// labels.
at::Tensor summed_cross_entropy(const at::Tensor& logits, const at::Tensor& labels, double smoothing);

}  // namespace ut::core
