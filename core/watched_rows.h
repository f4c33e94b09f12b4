#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <functional>
#include <memory>

#include "core/stack_rows.h"

namespace ut::core {

/// What one layer's attention did in one step.
struct SeenAttention {
  std::int64_t step;  // from 1
  std::size_t layer;
  bool over_memory;        // a decoder's attention over the encoder's rows; else self-attention
  dist::Rows queries;      // the rows that this step revised
  at::Tensor query;        // [query rows, d]
  at::Tensor keys_values;  // [key rows, 2d]: of all rows that the stack began with, halted ones as others see them; or
                           // of the memory's
  at::Tensor output;       // [query rows, d]: the heads' outputs
  at::Tensor weights;      // [heads, query rows, key rows] float64, 0 where a query does not see a key; without dropout
};

/// The same rows, but `observer` is called with every attention. Only for one rank. `rows`: fresh from
/// make_whole_rows() or make_running_rows(). `all`: the rows of their exchange. `causal`, `memory`: as they were made
/// with.
std::shared_ptr<StackRows> watch_attention(std::shared_ptr<StackRows> rows, const dist::Rows& all, bool causal,
                                           const dist::Rows* memory,
                                           std::function<void(const SeenAttention&)> observer);

}  // namespace ut::core
