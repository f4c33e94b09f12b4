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
  std::string name;   // such as encoder.layer0.self_attention.query_key_value
  at::Tensor tensor;  // a leaf that requires a gradient; shares memory with the flat buffer
};

/// A model's parameters. Their values and their gradients each live in one flat buffer, so that one all-reduce and one
/// optimizer step reach them all. Initial values are a pure function of seed and name. Constructors that take
/// Parameters and a name add parameters whose names begin with that name.
class Parameters {
 public:
  Parameters(Precision precision, std::uint64_t seed, at::Device device = at::kCPU)
      : precision_(precision), seed_(seed), device_(device) {}

  /// Adds a parameter and returns it. Values are uniform in +-sqrt(6 / (fan_in + fan_out)), as the authors initialise
  /// kernels.
  at::Tensor add_kernel(const std::string& name, const std::vector<std::int64_t>& sizes, std::int64_t fan_in,
                        std::int64_t fan_out);
  /// The same, with values drawn from a normal distribution of mean 0.
  at::Tensor add_normal(const std::string& name, const std::vector<std::int64_t>& sizes, double standard_deviation);
  at::Tensor add_constant(const std::string& name, const std::vector<std::int64_t>& sizes, double value);

  /// Moves all parameters into the flat buffers. No parameter may be added afterwards.
  void flatten();

  const std::vector<Parameter>& all() const { return parameters_; }
  const at::Tensor& flat() const { return flat_; }                    // [elements]
  const at::Tensor& flat_gradient() const { return flat_gradient_; }  // [elements]
  std::int64_t elements() const { return flat_.numel(); }
  /// Where the parameters whose names begin with `prefix` stand in the flat buffers; empty if there are none. They must
  /// have been added one after the other.
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

/// Whether a parameter has a buffer to which its gradient is added: true once it is in the flat buffers.
bool keeps_gradient(const at::Tensor& parameter);

/// The parts of a flat buffer that belong to the parameters, as views with the parameters' names and shapes.
std::vector<Parameter> views_of(const at::Tensor& flat, const std::vector<Parameter>& parameters);

}  // namespace ut::core
