#include "core/loss.h"

#include <ATen/ATen.h>

#include <cmath>

namespace ut::core {

at::Tensor summed_cross_entropy(const at::Tensor& logits, const at::Tensor& labels, double smoothing) {
  const at::Tensor log_probability = at::log_softmax(logits, 1);
  const at::Tensor on_label = log_probability.gather(1, labels.unsqueeze(1)).sum();
  if (smoothing == 0) return -on_label;
  const auto others = static_cast<double>(logits.size(1) - 1);
  const double low = smoothing / others;
  const double entropy = -((1 - smoothing) * std::log(1 - smoothing) + others * low * std::log(low + 1e-20));
  return -(1 - smoothing - low) * on_label - low * log_probability.sum() -
         entropy * static_cast<double>(labels.size(0));
}

at::Tensor mean_ponder_time(const Prediction& prediction, std::int64_t source_rows, std::int64_t target_rows) {
  at::Tensor mean = at::zeros({}, at::kDouble);
  const auto add = [&mean](const at::Tensor& cost, std::int64_t rows) {
    if (cost.defined()) mean = mean + cost / static_cast<double>(rows);
  };
  add(prediction.encoder.cost, source_rows);
  add(prediction.decoder.cost, target_rows);
  return mean;
}

void go_back(const at::Tensor& share) {
  share.backward(at::where(share.detach().isfinite(), 1.0, std::nan("")).to(share.scalar_type()));
}

}  // namespace ut::core
