#pragma once

#include <ATen/core/Tensor.h>

#include <map>
#include <optional>
#include <set>
#include <string>

#include "tests/golden/case.h"

namespace ut::golden {

/// Each kind has its own tolerance.
enum class Quantity { output, loss, gradient, weight, rate };

/// Compares the model's numbers with those of the authors' program. Keeps the first quantity that is out of tolerance
/// and the largest deviation of all.
class Comparison {
 public:
  explicit Comparison(const Case& golden) : golden_(golden) {}

  const Case& golden() const { return golden_; }
  /// The precision (float32, float64) of the comparisons that follow, for messages.
  void compute_in(const std::string& precision) { precision_ = precision; }

  /// Compares `got` with the case's array `name`, if it has one.
  void check(Quantity quantity, const std::string& name, const at::Tensor& got);
  void check(Quantity quantity, const std::string& name, double got);
  /// Compares `got` with `expected`, which is a part of the array `name`.
  void check(Quantity quantity, const std::string& name, const at::Tensor& got, const at::Tensor& expected);

  /// The first quantity out of tolerance: what was computed, what was expected, and the tolerance.
  const std::optional<std::string>& failure() const { return failure_; }
  bool is_empty() const { return compared_.empty(); }
  /// What was compared and the largest deviation.
  std::string summary() const;

 private:
  void fail(const std::string& message);
  void keep_largest(const std::string& name, const at::Tensor& deviation, const at::Tensor& tolerance);

  const Case& golden_;
  std::string precision_;
  std::map<Quantity, std::set<std::string>> compared_;
  std::optional<std::string> failure_;
  double largest_share_ = -1;  // deviation / tolerance
  std::string largest_;        // the deviation and where it is
};

}  // namespace ut::golden
