#include "tests/golden/weights.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <map>

#include "base/error.h"

namespace ut::golden {
namespace {

/// The authors' names for the parameters of a layer of ours.
std::map<std::string, std::vector<std::string>> names_in_layer(core::Norm norm) {
  std::map<std::string, std::vector<std::string>> names{
      {"self_attention.query_key_value", {"self_att/q", "self_att/k", "self_att/v"}},
      {"self_attention.output", {"self_att/o"}},
      {"cross_attention.query", {"cross_att/q"}},
      {"cross_attention.key_value", {"cross_att/k", "cross_att/v"}},
      {"cross_attention.output", {"cross_att/o"}},
      {"transition.kernel1", {"ffn/w1"}},
      {"transition.bias1", {"ffn/b1"}},
      {"transition.kernel2", {"ffn/w2"}},
      {"transition.bias2", {"ffn/b2"}}};
  for (const std::string number : {"1", "2"})
    for (const std::string part : {"depthwise", "pointwise", "bias"})
      names["transition.convolution" + number + "." + part] = {"ffn/sep" + number + "/" + part};
  const std::string place = norm == core::Norm::pre ? "/pre_ln/" : "/post_ln/";
  for (const auto& [ours, theirs] : {std::pair<std::string, std::string>{"self_attention", "self_att"},
                                     {"cross_attention", "cross_att"},
                                     {"transition", "ffn"}})
    for (const std::string part : {"scale", "bias"}) names[ours + ".norm." + part] = {theirs + place + part};
  return names;
}

/// The authors' names for a parameter of ours: several if ours joins theirs, from left to right.
std::vector<std::string> golden_names(const std::string& ours, core::Norm norm) {
  if (ours == "table") return {"shared_embedding"};
  const auto dot = ours.find('.');
  if (dot == std::string::npos) return {ours};
  const std::string stack = ours.starts_with("encoder.") ? "enc/" : "dec/";
  const std::string rest = ours.substr(dot + 1);
  if (rest == "step_signal") return {stack + "step_embedding"};
  if (rest == "final_norm.scale") return {stack + "final_ln/scale"};
  if (rest == "final_norm.bias") return {stack + "final_ln/bias"};
  if (rest.starts_with("halting.")) return {stack + "halt/" + rest.substr(rest.find('.') + 1)};
  const auto end_of_layer = rest.find('.');
  const auto names = names_in_layer(norm);
  const auto found = names.find(rest.substr(end_of_layer + 1));
  if (found == names.end()) throw base::BadInput("no golden name is known for the parameter {}", ours);
  std::vector<std::string> result;
  for (const auto& name : found->second) result.push_back(stack + rest.substr(0, end_of_layer) + "/" + name);
  return result;
}

/// Whether their shapes are equal apart from axes of size 1.
bool are_alike(const at::Tensor& a, const at::Tensor& b) { return a.squeeze().sizes() == b.squeeze().sizes(); }

/// The arrays side by side, in the parameter's shape.
at::Tensor joined(const std::vector<at::Tensor>& parts, const core::Parameter& parameter) {
  const at::Tensor whole = parts.size() == 1 ? parts.front() : at::cat(parts, 1);
  if (!are_alike(whole, parameter.tensor))
    throw base::BadInput("the weights of {} have shape {}, the model's {}", parameter.name, whole.sizes().vec(),
                         parameter.tensor.sizes().vec());
  return whole.reshape(parameter.tensor.sizes());
}

/// Compares the authors' arrays under `prefix` with their parts of `values`, which has the parameter's shape.
void compare_parts(Comparison& comparison, Quantity quantity, const std::string& prefix,
                   const std::vector<std::string>& names, const at::Tensor& values) {
  const Case& golden = comparison.golden();
  const auto parts = names.size() == 1 ? std::vector{values} : values.chunk(static_cast<std::int64_t>(names.size()), 1);
  for (std::size_t index = 0; index < names.size(); ++index) {
    const std::string name = prefix + names[index];
    if (!golden.has(name)) continue;
    const at::Tensor& expected = golden.array(name);
    const bool alike = are_alike(expected, parts[index]);
    comparison.check(quantity, name, alike ? parts[index].reshape(expected.sizes()) : parts[index], expected);
  }
}

}  // namespace

void load_weights(const Case& golden, core::Norm norm, const core::Parameters& parameters) {
  const at::NoGradGuard no_graph;
  for (const auto& parameter : parameters.all()) {
    std::vector<at::Tensor> parts;
    for (const auto& name : golden_names(parameter.name, norm)) parts.push_back(golden.array("weights/" + name));
    parameter.tensor.copy_(joined(parts, parameter));
  }
}

void require_all_weights_used(const Case& golden) {
  const auto unused = golden.unused("weights/");
  if (!unused.empty()) throw NotSupported(fmt::format("the model has no {}", fmt::join(unused, ", ")));
}

void compare_gradients(Comparison& comparison, core::Norm norm, const core::Parameters& parameters,
                       const std::string& prefix) {
  for (const auto& parameter : parameters.all())
    compare_parts(comparison, Quantity::gradient, prefix, golden_names(parameter.name, norm), parameter.tensor.grad());
}

void compare_weights(Comparison& comparison, core::Norm norm, const core::Parameters& parameters,
                     const std::string& prefix) {
  for (const auto& parameter : parameters.all())
    compare_parts(comparison, Quantity::weight, prefix, golden_names(parameter.name, norm), parameter.tensor);
}

}  // namespace ut::golden
