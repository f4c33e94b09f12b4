#include "core/optimizer.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>

#include <algorithm>
#include <cmath>
#include <numbers>

namespace ut::core {

double inverse_square_root_decay(std::int64_t update, std::int64_t warmup) {
  return 1 / std::sqrt(static_cast<double>(std::max({update, warmup, std::int64_t{1}})));
}

double learning_rate(const ScheduleOptions& options, std::int64_t update, std::int64_t max_updates,
                     std::int64_t d_model) {
  const auto step = static_cast<double>(update);
  const auto warmup = static_cast<double>(std::max<std::int64_t>(options.warmup, 1));
  if (options.kind == ScheduleKind::inverse_square_root)
    return options.learning_rate * std::min(1.0, step / warmup) * inverse_square_root_decay(update, options.warmup) /
           std::sqrt(static_cast<double>(d_model));
  if (update < options.warmup) return options.learning_rate * (step + 1) / warmup;
  if (options.kind == ScheduleKind::constant) return options.learning_rate;
  const auto decay_updates = static_cast<double>(std::max<std::int64_t>(max_updates - options.warmup, 1));
  const double progress = std::min(1.0, (step - static_cast<double>(options.warmup)) / decay_updates);
  return options.learning_rate * 0.5 * (1 + std::cos(std::numbers::pi * progress));
}

namespace {

/// The norm of `values` [elements]. LibTorch adds all squares one after the other: beyond some millions of elements
/// small ones would be lost in float32 (1 % of the norm of 10^8), so this takes norms of pieces first.
at::Tensor norm_of(const at::Tensor& values) {
  constexpr std::int64_t piece = 4096;
  const std::int64_t whole = values.numel() / piece * piece;
  return at::cat({values.narrow(0, 0, whole).view({-1, piece}).norm(2, 1), values.slice(0, whole).norm().view({1})})
      .norm();
}

/// The parts of `flat` [elements] that lie in `spans`.
std::vector<at::Tensor> parts_of(const at::Tensor& flat, const std::vector<base::Span>& spans) {
  std::vector<at::Tensor> parts;
  for (const base::Span& span : spans) parts.push_back(flat.slice(0, span.begin, span.end));
  return parts;
}

}  // namespace

Adam::Adam(const OptimizerOptions& options, const Parameters& parameters)
    : options_(options),
      parts_(parts_by_decay(options, parameters)),
      first_(at::zeros_like(parameters.flat())),
      second_(at::zeros_like(parameters.flat())) {}

std::vector<Adam::Part> Adam::parts_by_decay(const OptimizerOptions& options, const Parameters& parameters) {
  if (options.weight_decay == 0 || options.decayed == DecayedParameters::all)
    return {{{{0, parameters.elements()}}, options.weight_decay}};
  Part matrices{{}, options.weight_decay};
  Part others{{}, 0};
  std::int64_t begin = 0;
  for (const Parameter& parameter : parameters.all()) {
    std::vector<base::Span>& spans = parameter.tensor.dim() > 1 ? matrices.spans : others.spans;
    if (spans.empty() || spans.back().end != begin) spans.push_back({begin, begin});
    begin += parameter.tensor.numel();
    spans.back().end = begin;
  }
  return {matrices, others};
}

at::Tensor Adam::step(const at::Tensor& parameters, const at::Tensor& gradient, double rate) {
  const at::NoGradGuard no_graph;
  const at::Tensor norm = norm_of(gradient);
  const at::Tensor left_out = norm.isfinite().logical_not();  // read on the device: the host does not wait for it
  if (options_.clip_norm > 0) gradient.mul_(at::where(left_out, 1, (options_.clip_norm / norm).clamp_max(1)));
  ++updates_;
  // LibTorch corrects the second moment before it adds epsilon; the authors add epsilon first. So epsilon is scaled.
  const double correction = 1 - std::pow(options_.beta2, static_cast<double>(updates_));
  const at::Tensor update = at::full({}, updates_, gradient.options().dtype(at::kFloat));
  for (const Part& part : parts_)
    at::_fused_adamw_(parts_of(parameters, part.spans), parts_of(gradient, part.spans), parts_of(first_, part.spans),
                      parts_of(second_, part.spans), {}, std::vector<at::Tensor>(part.spans.size(), update), rate,
                      options_.beta1, options_.beta2, part.weight_decay, options_.epsilon / std::sqrt(correction),
                      false, false, {}, left_out.to(at::kFloat));
  return norm;
}

}  // namespace ut::core
