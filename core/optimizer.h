#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

#include "base/span.h"
#include "core/options.h"
#include "core/parameters.h"

namespace ut::core {

/// The learning rate of update s = `update`, counted from 0. The authors' schedule (inverse_square_root): learning_rate
/// * min(1, s / warmup) * max(s, warmup)^(-1/2) * d_model^(-1/2), so that the first update has rate 0. The others: a
/// linear warm-up to learning_rate, then that rate (constant) or a half cosine down to 0 at `max_updates` (cosine).
double learning_rate(const ScheduleOptions& options, std::int64_t update, std::int64_t max_updates,
                     std::int64_t d_model);

/// max(s, warmup, 1)^(-1/2), the decay of the authors' schedule alone.
double inverse_square_root_decay(std::int64_t update, std::int64_t warmup);

/// Adam over the flat buffers: w -= rate * sqrt(1 - beta2^k) / (1 - beta1^k) * m / (sqrt(v) + epsilon) in the kth
/// update. Epsilon is added to the uncorrected sqrt(v), as in the authors' framework. Decoupled weight decay comes
/// first: w -= rate * decay * w, for the parameters that options name.
class Adam {
 public:
  Adam(const OptimizerOptions& options, const Parameters& parameters);

  /// Applies `gradient` [elements] to `parameters` [elements]. With clip_norm the gradient is first clipped, in place.
  /// Returns its global norm before clipping, a scalar. If the norm is not finite, parameters, moments and gradient
  /// stay as they are; it counts as an update all the same.
  at::Tensor step(const at::Tensor& parameters, const at::Tensor& gradient, double rate);

  std::int64_t updates() const { return updates_; }
  /// Moments [elements]; for checkpoints.
  const at::Tensor& first_moment() const { return first_; }
  const at::Tensor& second_moment() const { return second_; }
  void restore(std::int64_t updates) { updates_ = updates; }

 private:
  /// What one fused update is made of: parts of the flat buffers.
  struct Part {
    std::vector<base::Span> spans;
    double weight_decay;
  };

  static std::vector<Part> parts_by_decay(const OptimizerOptions& options, const Parameters& parameters);

  OptimizerOptions options_;
  std::vector<Part> parts_;
  at::Tensor first_;
  at::Tensor second_;
  std::int64_t updates_ = 0;
};

}  // namespace ut::core
