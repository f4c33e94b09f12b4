#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <memory>

#include "core/attention_layout.h"
#include "dist/row_store.h"

namespace ut::core {

/// The keys and values of one layer while its positions halt one after another. In each step those of some rows are
/// new; the others stay as they are, here, so that a step's work and memory go with its new rows and its queries, not
/// with all rows. The backward pass takes the steps back one by one.
class KeyValueStore : public std::enable_shared_from_this<KeyValueStore> {
 public:
  explicit KeyValueStore(std::int64_t slots) : store_(slots) {}

  /// Step number `step`, from 1. `fresh` [new rows, 2d]: keys beside values, of the rows that this step puts into
  /// `slot` [new rows] int64. All slots that the next step writes must be among them, so that going back a step
  /// restores what was in these. `query` [query rows, d] belongs to `layout`, whose keys stand in their slots. Returns
  /// the heads' outputs [query rows, d]. Steps are made in their order, and go back, or are made again to go back, in
  /// reverse, once; throws std::logic_error otherwise.
  at::Tensor attend(std::int64_t step, const at::Tensor& query, const at::Tensor& fresh, const at::Tensor& slot,
                    const AttentionLayout& layout, const AttentionSite& site);

 private:
  /// Puts in place what a step beside the one at hand has put in.
  void turn_to(std::int64_t step, const at::Tensor& fresh, const at::Tensor& slot);

  dist::RowStore store_;
  std::int64_t current_ = 0;  // the step whose keys and values are in place
};

}  // namespace ut::core
