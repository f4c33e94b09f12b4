#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

#include "core/options.h"
#include "core/parameters.h"

namespace ut::core {

/// constant * min(1, s / warmup) * max(s, warmup)^(-1/2) * d_model^(-1/2) for the authors' schedule
/// (inverse_square_root); a linear warm-up to the rate, then the rate (constant) or a half cosine down to 0 at
/// `max_updates` (cosine). `update` is s, counted from 0, so the authors' first update has rate 0.
double learning_rate(const ScheduleOptions& options, std::int64_t update, std::int64_t max_updates,
                     std::int64_t d_model);

/// max(s, warmup, 1)^(-1/2), the decay alone.
double inverse_square_root_decay(std::int64_t update, std::int64_t warmup);

/// Adam over the flat buffers: w -= rate * sqrt(1 - beta2^k) / (1 - beta1^k) * m / (sqrt(v) + epsilon), epsilon beside
/// the uncorrected sqrt(v) as in the authors' framework; before it decoupled weight decay, w -= rate * decay * w.
class Adam {
 public:
  Adam(const OptimizerOptions& options, const Parameters& parameters);

  /// Applies `gradient` [elements] to `parameters` [elements], clipped by its global norm where asked for.
  /// Returns that norm, before clipping. Where it is not finite, parameters and moments stay as they are, and so does
  /// the gradient; it counts as an update all the same.
  at::Tensor step(const at::Tensor& parameters, const at::Tensor& gradient, double rate);

  std::int64_t updates() const { return updates_; }
  /// Moments [elements]; for checkpoints.
  const at::Tensor& first_moment() const { return first_; }
  const at::Tensor& second_moment() const { return second_; }
  void restore(std::int64_t updates) { updates_ = updates; }

 private:
  OptimizerOptions options_;
  at::Tensor first_;
  at::Tensor second_;
  std::int64_t updates_ = 0;
};

}  // namespace ut::core
