#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "core/attention.h"

namespace ut::core {

/// The keys and values of one layer while its positions halt one after another. In each step those of some rows are
/// new; the others stay as they are, here, so that a step's work and memory go with its new rows and its queries, not
/// with all rows. The backward pass takes the steps back one by one.
class KeyValueStore : public std::enable_shared_from_this<KeyValueStore> {
 public:
  /// For `sequences` sequences with room for `slots` rows each.
  KeyValueStore(std::int64_t sequences, std::int64_t slots, std::int64_t heads);

  /// One step. `fresh` [new rows, 2d]: keys beside values, of the rows in `slot` [new rows] int64 (sequence * slots +
  /// place in it). `query` [query rows, d] belongs to `layout`, whose sequences are those numbered `sequence` here; its
  /// keys are all slots. Returns the heads' outputs [query rows, d].
  at::Tensor attend(const at::Tensor& query, const at::Tensor& fresh, const at::Tensor& slot,
                    const at::Tensor& sequence, const AttentionLayout& layout, double dropout_rate,
                    const DropoutKey& dropout);

 private:
  class StepBackward;

  /// What a step has put in.
  struct Step {
    at::Tensor fresh;  // [new rows, 2d]
    at::Tensor to;     // [new rows * heads] int64: where their heads' keys and values are kept
    at::Tensor key;    // [new rows * heads] int64: where their keys stand in `fresh`, head by head
    at::Tensor value;  // [new rows * heads] int64
  };

  void put(const Step& step);
  void go_back_to(std::size_t step);
  at::Tensor take_gradient(const Step& step);

  std::int64_t sequences_;
  std::int64_t slots_;
  std::int64_t heads_;
  at::Tensor keys_;    // [sequences * heads, slots, d / heads]
  at::Tensor values_;  // likewise
  at::Tensor key_gradients_;
  at::Tensor value_gradients_;
  std::vector<Step> steps_;
  std::size_t current_ = 0;  // the step whose keys and values are in place
};

}  // namespace ut::core
