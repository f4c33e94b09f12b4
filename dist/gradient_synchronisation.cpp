#include "dist/gradient_synchronisation.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>

namespace ut::dist {

GradientSynchronisation::GradientSynchronisation(const at::Tensor& flat_gradient, base::Span early, Communicator& world)
    : gradient_(flat_gradient), early_(early), world_(world) {}

at::Tensor GradientSynchronisation::part(std::int64_t begin, std::int64_t end) {
  at::Tensor elements = gradient_.narrow(0, begin, end - begin);
  if (world_.size() > 1) own_.push_back(elements.sum());
  return elements;
}

bool GradientSynchronisation::were_finite() const {
  return std::ranges::all_of(own_, [](const at::Tensor& sum) { return std::isfinite(sum.item<double>()); });
}

void GradientSynchronisation::start_early() {
  if (early_.end > early_.begin)
    summed_ = world_.start_all_reduce_sum(part(early_.begin, early_.end), Purpose::gradients);
}

/// Every rank starts the sums in the same order, even a rank without a backward pass in which to call start_early().
void GradientSynchronisation::finish() {
  if (!summed_) start_early();
  for (const base::Span& rest : {base::Span{0, early_.begin}, base::Span{early_.end, gradient_.size(0)}})
    if (rest.end > rest.begin) world_.all_reduce_sum(part(rest.begin, rest.end), Purpose::gradients);
  if (summed_) summed_();
}

}  // namespace ut::dist
