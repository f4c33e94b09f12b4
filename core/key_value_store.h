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
  explicit KeyValueStore(std::int64_t slots) : slots_(slots) {}

  /// One step. `fresh` [new rows, 2d]: keys beside values, of the rows that are kept in `slot` [new rows] int64.
  /// `query` [query rows, d] belongs to `layout`, whose keys stand in their slots. Returns the heads' outputs [query
  /// rows, d].
  at::Tensor attend(const at::Tensor& query, const at::Tensor& fresh, const at::Tensor& slot,
                    const AttentionLayout& layout, const AttentionSite& site);

 private:
  /// What a step has put in.
  struct Step {
    at::Tensor fresh;  // [new rows, 2d]
    at::Tensor slot;   // [new rows] int64
  };

  void put(const Step& step);
  std::vector<at::Tensor> go_back(std::size_t step, const Attended& attended, const at::Tensor& gradient);

  std::int64_t slots_;
  at::Tensor rows_;       // [slots, 2d]
  at::Tensor gradients_;  // likewise
  std::vector<Step> steps_;
  std::size_t current_ = 0;  // the step whose keys and values are in place
};

}  // namespace ut::core
