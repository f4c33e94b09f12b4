#include "tests/golden/comparison.h"

#include <ATen/ATen.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <utility>

namespace ut::golden {
namespace {

constexpr double absolute = 1e-5;          // outputs, states and losses
constexpr double of_largest_entry = 1e-5;  // gradients; a largest entry below 1 counts as 1
constexpr double after_training = 1e-4;    // weights
constexpr double relative = 1e-5;          // learning rates, which are far below 1

/// [expected's sizes]
at::Tensor tolerance_of(Quantity quantity, const at::Tensor& expected) {
  switch (quantity) {
    case Quantity::gradient: {
      const double largest = expected.numel() == 0 ? 0 : expected.abs().max().item<double>();
      return at::full_like(expected, of_largest_entry * std::max(1.0, largest));
    }
    case Quantity::weight:
      return at::full_like(expected, after_training);
    case Quantity::rate:
      return relative * expected.abs();
    case Quantity::output:
    case Quantity::loss:
      break;
  }
  return at::full_like(expected, absolute);
}

/// The indices of an element, from its place in the flattened array.
std::vector<std::int64_t> indices_of(std::int64_t element, at::IntArrayRef sizes) {
  std::vector<std::int64_t> indices(sizes.size());
  for (std::size_t axis = sizes.size(); axis-- > 0; element /= sizes[axis]) indices[axis] = element % sizes[axis];
  return indices;
}

double element_of(const at::Tensor& array, std::int64_t element) { return array.flatten()[element].item<double>(); }

}  // namespace

void Comparison::fail(const std::string& message) {
  if (!failure_) failure_ = fmt::format("{} ({})", message, precision_);
}

void Comparison::check(Quantity quantity, const std::string& name, const at::Tensor& got) {
  if (golden_.has(name)) check(quantity, name, got, golden_.array(name));
}

void Comparison::check(Quantity quantity, const std::string& name, double got) {
  if (golden_.has(name)) check(quantity, name, at::full_like(golden_.array(name), got, at::kDouble));
}

void Comparison::check(Quantity quantity, const std::string& name, const at::Tensor& got, const at::Tensor& expected) {
  compared_[quantity].insert(name);
  golden_.mark_used(name);
  if (got.sizes() != expected.sizes())
    return fail(
        fmt::format("{}: got an array of shape {}, expected {}", name, got.sizes().vec(), expected.sizes().vec()));
  const at::Tensor exact = expected.to(at::kDouble);
  const at::Tensor value = got.detach().to(at::kDouble);
  const at::Tensor deviation = (value - exact).abs();
  const at::Tensor tolerance = tolerance_of(quantity, exact);
  const at::Tensor outside = deviation.le(tolerance).logical_not();  // NaN is outside
  if (outside.any().item<bool>()) {
    const auto element = outside.flatten().nonzero()[0].item<std::int64_t>();
    fail(fmt::format("{}{}: got {:.8g}, expected {:.8g}, tolerance {:.2g}", name, indices_of(element, exact.sizes()),
                     element_of(value, element), element_of(exact, element), element_of(tolerance, element)));
  }
  keep_largest(name, deviation, tolerance);
}

void Comparison::keep_largest(const std::string& name, const at::Tensor& deviation, const at::Tensor& tolerance) {
  if (deviation.numel() == 0) return;
  const at::Tensor share = at::where(tolerance.gt(0), deviation / tolerance, at::zeros_like(deviation)).flatten();
  const auto element = share.argmax().item<std::int64_t>();
  if (element_of(share, element) <= largest_share_) return;
  largest_share_ = element_of(share, element);
  largest_ = fmt::format("{:.2g} of {:.2g} in {} ({})", element_of(deviation, element), element_of(tolerance, element),
                         name, precision_);
}

std::string Comparison::summary() const {
  constexpr std::array<std::pair<Quantity, const char*>, 5> words{{{Quantity::output, "outputs"},
                                                                   {Quantity::loss, "losses"},
                                                                   {Quantity::gradient, "gradients"},
                                                                   {Quantity::weight, "weights after updates"},
                                                                   {Quantity::rate, "learning rates"}}};
  std::vector<std::string> parts;
  for (const auto& [quantity, word] : words)
    if (const auto found = compared_.find(quantity); found != compared_.end())
      parts.push_back(fmt::format("{} {}", found->second.size(), word));
  return fmt::format("{}, largest deviation {}", fmt::join(parts, ", "), largest_);
}

}  // namespace ut::golden
