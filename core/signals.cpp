#include "core/signals.h"

#include <ATen/ATen.h>

#include <cmath>

namespace ut::core {
namespace {

constexpr double longest_wavelength = 10000;

at::Tensor halves(const at::Tensor& index, std::int64_t d_model) {
  const std::int64_t frequencies = d_model / 2;
  const double slope = std::log(longest_wavelength) / static_cast<double>(std::max<std::int64_t>(frequencies - 1, 1));
  const at::Tensor angle = index.unsqueeze(1) * at::exp(at::arange(frequencies, index.options()) * -slope);
  const at::Tensor odd_column = at::zeros({index.size(0), d_model % 2}, index.options());
  return at::cat({angle.sin(), angle.cos(), odd_column}, 1);
}

at::Tensor interleaved(const at::Tensor& index, std::int64_t d_model) {
  const double slope = 2 * std::log(longest_wavelength) / static_cast<double>(d_model);
  const at::Tensor angle = (index + 1).unsqueeze(1) * at::exp(at::arange((d_model + 1) / 2, index.options()) * -slope);
  return at::stack({angle.sin(), angle.cos()}, 2).flatten(1).narrow(1, 0, d_model);
}

}  // namespace

at::Tensor sinusoid(const at::Tensor& index, std::int64_t d_model, Signal kind) {
  const at::Tensor exact = index.to(at::kDouble);
  return kind == Signal::halves ? halves(exact, d_model) : interleaved(exact, d_model);
}

}  // namespace ut::core
