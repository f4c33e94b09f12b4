#include "core/loss.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "dist/differentiable.h"

namespace ut::core {
namespace {

/// Pieces of `rows` [rows, columns]: on the host so small that they stay in a core's cache from one operation to the
/// next; on a device small compared with the whole.
std::vector<at::Tensor> in_pieces(const at::Tensor& rows) {
  const std::int64_t numbers_at_once = rows.is_cpu() ? 1 << 18 : 1 << 24;
  return rows.split(std::max<std::int64_t>(1, numbers_at_once / rows.size(1)));
}

}  // namespace

at::Tensor summed_cross_entropy(const at::Tensor& logits, const at::Tensor& labels, double smoothing) {
  const auto others = static_cast<double>(logits.size(1) - 1);
  const double low = smoothing == 0 ? 0 : smoothing / others;
  const at::Tensor log_probability = logits.detach();  // [rows, vocabulary], in the logits' memory
  for (const at::Tensor& rows : in_pieces(log_probability)) rows.copy_(at::log_softmax(rows, 1));
  const at::Tensor label = labels.unsqueeze(1);  // [rows, 1]
  at::Tensor loss = log_probability.gather(1, label).sum() * (smoothing + low - 1);
  if (smoothing > 0) {
    const double entropy = -((1 - smoothing) * std::log(1 - smoothing) + others * low * std::log(low + 1e-20));
    loss = loss - low * log_probability.sum() - entropy * static_cast<double>(labels.size(0));
  }
  return dist::with_backward(loss, {logits}, [log_probability, label, low, smoothing](const at::Tensor& gradient) {
    for (const at::Tensor& rows : in_pieces(log_probability)) {  // nobody needs the logarithms any more
      rows.exp_();
      if (low > 0) rows.sub_(low);
      rows.mul_(gradient);
    }
    log_probability.scatter_add_(1, label, (gradient * (smoothing + low - 1)).expand(label.sizes()));
    return std::vector<at::Tensor>{log_probability};
  });
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

at::Tensor share_of_loss(const Prediction& prediction, const at::Tensor& labels, const LossOptions& update) {
  return summed_cross_entropy(prediction.logits, labels, update.label_smoothing) / static_cast<double>(update.labels) +
         update.ponder_weight * mean_ponder_time(prediction, update.source_rows, update.target_rows);
}

void backward(const at::Tensor& share) {
  share.backward(at::where(share.detach().isfinite(), 1.0, std::nan("")).to(share.scalar_type()));
}

}  // namespace ut::core
