#pragma once

#include <cstdint>
#include <vector>

namespace ut::datasets {

/// The order of training examples: every epoch is a permutation keyed on seed and epoch. It is a pure function of the
/// cursor, so that resuming anywhere needs one number.
class Sampler {
 public:
  /// Throws std::invalid_argument if there is no example.
  Sampler(std::int64_t examples, std::uint64_t seed);

  /// The example indices of the samples number cursor, …, cursor + count - 1 since the start of training.
  /// Throws std::invalid_argument if `cursor` or `count` is negative.
  std::vector<std::int64_t> indices(std::int64_t cursor, std::int64_t count);

 private:
  std::int64_t examples_;
  std::uint64_t seed_;
  std::int64_t epoch_ = -1;
  std::vector<std::int64_t> order_;  // of epoch_
};

}  // namespace ut::datasets
