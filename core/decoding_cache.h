#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <deque>
#include <vector>

namespace ut::core {

/// What a decoder keeps from symbol to symbol: for each step and layer, what later positions see of earlier ones.
class DecodingCache {
 public:
  DecodingCache(std::int64_t sequences, at::Device device) : sequences_(sequences), device_(device) {}

  /// A tensor for each layer: [positions that there is room for, sequences, columns].
  struct StepCache {
    std::vector<at::Tensor> keys_values;
    std::vector<at::Tensor> states;  // what convolutions look at
  };
  /// `step` counts from 1.
  StepCache& of_step(std::int64_t step);
  /// A view to write one position's values to, of all sequences: [sequences, columns]. If there is no room yet, makes
  /// it with the columns, type and device of `like`.
  at::Tensor at_position(std::vector<at::Tensor>& of_layers, std::size_t layer, std::int64_t position,
                         const at::Tensor& like) const;
  /// Copies the first `positions` positions of sequence from[i] to sequence to[i], for all i at once.
  void move(std::int64_t positions, const std::vector<std::int64_t>& from, const std::vector<std::int64_t>& to);
  std::int64_t sequences() const { return sequences_; }
  at::Device device() const { return device_; }

 private:
  std::int64_t sequences_;
  at::Device device_;
  std::deque<StepCache> steps_;  // a deque, so that references into it stay valid
};

}  // namespace ut::core
