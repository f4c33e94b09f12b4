#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <string>
#include <vector>

#include "base/span.h"
#include "core/options.h"

namespace ut::core {

at::ScalarType scalar_type(Precision precision);

struct Parameter {
  std::string name;   // encoder.layer0.self_attention.query_key_value, …
  at::Tensor tensor;  // a leaf that wants a gradient; shares memory with the flat buffer
};

/// A model's parameters. Their values and their gradients each live in one flat buffer, so that one all-reduce and
/// one optimizer step reach them all. Initial values are a pure function of seed and name. What is constructed with
/// these and a name adds its own, whose names begin with that.
class Parameters {
 public:
  Parameters(Precision precision, std::uint64_t seed, at::Device device = at::kCPU)
      : precision_(precision), seed_(seed), device_(device) {}

  /// Uniform in +-sqrt(6 / (fan_in + fan_out)), as the authors initialise kernels.
  at::Tensor add_kernel(const std::string& name, const std::vector<std::int64_t>& sizes, std::int64_t fan_in,
                        std::int64_t fan_out);
  /// Normal, of mean 0.
  at::Tensor add_normal(const std::string& name, const std::vector<std::int64_t>& sizes, double standard_deviation);
  at::Tensor add_constant(const std::string& name, const std::vector<std::int64_t>& sizes, double value);

  /// Moves all parameters into the flat buffers; nothing is added after it.
  void flatten();

  const std::vector<Parameter>& all() const { return parameters_; }
  const at::Tensor& flat() const { return flat_; }                    // [elements]
  const at::Tensor& flat_gradient() const { return flat_gradient_; }  // [elements]
  std::int64_t elements() const { return flat_.numel(); }
  /// Where those stand in the flat buffers whose names begin so: one after the other, as they were added.
  base::Span elements_of(const std::string& prefix) const;

 private:
  at::Tensor add(const std::string& name, const at::Tensor& value);
  std::uint64_t key(const std::string& name) const;

  Precision precision_;
  std::uint64_t seed_;
  at::Device device_;
  std::vector<Parameter> parameters_;
  at::Tensor flat_;
  at::Tensor flat_gradient_;
};

/// Whether there is where a parameter's gradient is added up: from when it is in the flat buffers.
bool keeps_gradient(const at::Tensor& parameter);

/// The parts of a flat buffer that belong to the parameters, as views with the parameters' names and shapes.
std::vector<Parameter> views_of(const at::Tensor& flat, const std::vector<Parameter>& parameters);

}  // namespace ut::core
