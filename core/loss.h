#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

#include "core/model.h"

namespace ut::core {

/// Label-smoothed cross entropy, summed over rows: 1 - smoothing on the label and the rest spread evenly over the other
/// symbols, less the smoothed distribution's own entropy, so that a perfect fit gives 0 (the authors' form). `logits`
/// [rows, vocabulary], `labels` [rows] int64 -> scalar. The caller divides by the update's global number of labels.
/// Overwrites the logits with their log probabilities, and in the backward pass with their gradient: with many symbols
/// they are the largest tensor, at the moment of the highest memory use.
at::Tensor summed_cross_entropy(const at::Tensor& logits, const at::Tensor& labels, double smoothing);

/// This rank's share of the mean ponder time (updates + remainder), encoder's and decoder's added: summed over this
/// rank's rows and divided by the update's rows on all ranks. 0 for a stack without halting. Scalar, float64.
at::Tensor mean_ponder_time(const Prediction& prediction, std::int64_t source_rows, std::int64_t target_rows);

/// How an update's loss is weighed. Numbers of labels and rows are over all ranks and micro-batches.
struct LossOptions {
  std::int64_t labels;  // that have an answer
  std::int64_t source_rows;
  std::int64_t target_rows;
  double label_smoothing;
  double ponder_weight;  // of the mean ponder time
};

/// This rank's share of the update's loss, a scalar for backward(): label-smoothed cross entropy per label plus the
/// weighted mean ponder time. `labels` [rows] int64. Overwrites the logits, like summed_cross_entropy().
at::Tensor share_of_loss(const Prediction& prediction, const at::Tensor& labels, const LossOptions& update);

/// The backward pass from a rank's share of the loss, a scalar. If it is not finite, the gradients of all that it
/// depends on are not finite either, so that no rank applies them.
void backward(const at::Tensor& share);

}  // namespace ut::core
