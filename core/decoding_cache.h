#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

#include "core/recurrence.h"

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

/// The rows of one new position of some sequences, which see the positions before it in the cache.
struct NewPosition {
  std::int64_t position;               // from 0
  std::vector<std::int64_t> sequence;  // numbers of the sequences, ascending, as the cache has them
  std::vector<std::int64_t> id;        // [sequences of the cache]: identities
  std::int64_t width = 1;              // sequences of the cache for each of the memory's
};

/// A stack's rows for one more symbol; to be used for one pass of `steps` steps. Halting by the sequence's mean cannot
/// be had: it would need all positions. `memory`, if there is any, and `cache` must outlive the rows.
std::shared_ptr<StackRows> make_cached_rows(DecodingCache& cache, NewPosition rows, Halting halting, std::int64_t steps,
                                            const dist::Rows* memory);

}  // namespace ut::core
