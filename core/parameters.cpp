#include "core/parameters.h"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>

#include <cmath>
#include <numbers>

#include "base/philox.h"

namespace ut::core {
namespace {

/// Each element is draw(words), with four random words that are a function of the key and the element's number.
template <class Draw>
at::Tensor filled(const std::vector<std::int64_t>& sizes, std::uint64_t key, const Draw& draw) {
  at::Tensor values = at::empty(sizes, at::kDouble);
  auto* data = values.mutable_data_ptr<double>();
  at::parallel_for(0, values.numel(), 4096, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t element = begin; element < end; ++element)
      data[element] = draw(
          base::philox({static_cast<std::uint32_t>(element), static_cast<std::uint32_t>(element >> 32), 0, 0}, key));
  });
  return values;
}

}  // namespace

at::ScalarType scalar_type(Precision precision) { return precision == Precision::float64 ? at::kDouble : at::kFloat; }

std::uint64_t Parameters::key(const std::string& name) const {
  std::uint64_t key = seed_;
  for (const char letter : name) key = base::mix(key, static_cast<unsigned char>(letter));
  return key;
}

at::Tensor Parameters::add(const std::string& name, const at::Tensor& value) {
  parameters_.push_back({name, value.to(device_, scalar_type(precision_)).requires_grad_()});
  return parameters_.back().tensor;
}

at::Tensor Parameters::add_kernel(const std::string& name, const std::vector<std::int64_t>& sizes, std::int64_t fan_in,
                                  std::int64_t fan_out) {
  const double limit = std::sqrt(6.0 / static_cast<double>(fan_in + fan_out));
  return add(name,
             filled(sizes, key(name), [&](const auto& words) { return limit * (2 * base::uniform(words[0]) - 1); }));
}

at::Tensor Parameters::add_normal(const std::string& name, const std::vector<std::int64_t>& sizes,
                                  double standard_deviation) {
  return add(name, filled(sizes, key(name), [&](const auto& words) {
               const double radius = std::sqrt(-2 * std::log(base::uniform(words[0])));  // Box-Muller
               return standard_deviation * radius * std::cos(2 * std::numbers::pi * base::uniform(words[1]));
             }));
}

at::Tensor Parameters::add_constant(const std::string& name, const std::vector<std::int64_t>& sizes, double value) {
  return add(name, at::full(sizes, value, at::kDouble));
}

void Parameters::flatten() {
  std::vector<at::Tensor> values;
  for (const auto& parameter : parameters_) values.push_back(parameter.tensor.detach().flatten());
  flat_ = at::cat(values);
  flat_gradient_ = at::zeros_like(flat_);
  const auto value_views = views_of(flat_, parameters_);
  const auto gradient_views = views_of(flat_gradient_, parameters_);
  for (std::size_t index = 0; index < parameters_.size(); ++index) {
    parameters_[index].tensor.set_data(value_views[index].tensor);
    parameters_[index].tensor.mutable_grad() = gradient_views[index].tensor;
  }
}

base::Span Parameters::elements_of(const std::string& prefix) const {
  base::Span found;
  std::int64_t begin = 0;
  for (const auto& parameter : parameters_) {
    const std::int64_t end = begin + parameter.tensor.numel();
    if (parameter.name.starts_with(prefix)) found = {found.end == 0 ? begin : found.begin, end};
    begin = end;
  }
  return found;
}

bool keeps_gradient(const at::Tensor& parameter) { return parameter.is_leaf() && parameter.grad().defined(); }

std::vector<Parameter> views_of(const at::Tensor& flat, const std::vector<Parameter>& parameters) {
  std::vector<Parameter> views;
  std::int64_t begin = 0;
  for (const auto& parameter : parameters) {
    const std::int64_t elements = parameter.tensor.numel();
    views.push_back({parameter.name, flat.narrow(0, begin, elements).view(parameter.tensor.sizes())});
    begin += elements;
  }
  return views;
}

}  // namespace ut::core
