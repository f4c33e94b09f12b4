#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

#include "core/model.h"

namespace ut::core {

/// Label-smoothed cross entropy, summed over rows: 1 - smoothing on the label and the rest spread evenly over the
/// other symbols, less the smoothed distribution's own entropy, so that a perfect fit gives 0 (the authors' form).
/// `logits` [rows, vocabulary], `labels` [rows] int64 -> scalar. The caller divides by the update's global number of
/// labels. Of the logits become their logarithms of probabilities, and on the way back their gradient: with many
/// symbols they are the largest tensor that there is, when there is most.
at::Tensor summed_cross_entropy(const at::Tensor& logits, const at::Tensor& labels, double smoothing);

/// Mean ponder time (updates + remainder) of the update's rows, encoder's and decoder's added: this rank's share,
/// summed over its rows and divided by the rows of all ranks. Zero for a stack that does not halt. Scalar, float64.
at::Tensor mean_ponder_time(const Prediction& prediction, std::int64_t source_rows, std::int64_t target_rows);

/// What the mean loss of an update is made of, over all ranks and micro-batches.
struct LossOptions {
  std::int64_t labels;  // that have an answer
  std::int64_t source_rows;
  std::int64_t target_rows;
  double label_smoothing;
  double ponder_weight;  // of the mean ponder time
};

/// This rank's share of the update's loss, to go back from: label-smoothed cross entropy a label, and the weighted mean
/// ponder time. `labels` [rows] int64. Scalar. Overwrites the logits, as summed_cross_entropy() does.
at::Tensor share_of_loss(const Prediction& prediction, const at::Tensor& labels, const LossOptions& update);

/// Goes back from a rank's share of the loss, a scalar. Where it is not finite, no gradient that it depends on is
/// either, so that no rank applies them.
void backward(const at::Tensor& share);

}  // namespace ut::core
