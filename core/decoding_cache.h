#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <deque>
#include <vector>

namespace ut::core {

/// What a decoder keeps from symbol to symbol: for each step and layer what later positions see of those before them.
class DecodingCache {
 public:
  DecodingCache(std::int64_t sequences, at::Device device) : sequences_(sequences), device_(device) {}

  /// Of each layer [positions that there is room for, sequences, columns].
  struct OfStep {
    std::vector<at::Tensor> keys_values;
    std::vector<at::Tensor> states;  // what convolutions look at
  };
  /// `step` counts from 1.
  OfStep& of_step(std::int64_t step);
  /// Where the values of one position go, of all sequences: [sequences, columns]; made like `like` where there is no
  /// room yet.
  at::Tensor at_position(std::vector<at::Tensor>& of_layers, std::size_t layer, std::int64_t position,
                         const at::Tensor& like) const;
  /// Lets the first `positions` of the sequences `to` be what those of the sequences `from` were.
  void move(std::int64_t positions, const std::vector<std::int64_t>& from, const std::vector<std::int64_t>& to);
  std::int64_t sequences() const { return sequences_; }
  at::Device device() const { return device_; }

 private:
  std::int64_t sequences_;
  at::Device device_;
  std::deque<OfStep> steps_;  // references into it last
};

}  // namespace ut::core
