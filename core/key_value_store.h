#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <memory>

#include "core/attention_layout.h"
#include "dist/row_store.h"

namespace ut::core {

/// The keys and values of one layer while its positions halt one after another. Each step brings new ones for some
/// rows; the others stay here as they are, so that a step's work and memory depend on its new rows and its queries, not
/// on all rows (except with bfloat16 on the host, where attention reads a float32 copy of all of them). The backward
/// pass undoes the steps one by one.
class KeyValueStore : public std::enable_shared_from_this<KeyValueStore> {
 public:
  explicit KeyValueStore(std::int64_t slots) : store_(slots) {}

  /// Takes step number `step`, from 1: puts `fresh` [new rows, 2d], keys beside values, into the slots `slot` [new
  /// rows] int64, then attends with `query` [query rows, d]. `slot` must include all slots that the next step writes,
  /// so that undoing that step restores what was in them. `layout`: of these queries, and of keys that stand in their
  /// slots. Returns the heads' outputs [query rows, d].
  ///
  /// Steps must be taken in order, then undone (or taken again to be undone) in reverse order, once. Throws
  /// std::logic_error otherwise.
  at::Tensor attend(std::int64_t step, const at::Tensor& query, const at::Tensor& fresh, const at::Tensor& slot,
                    const AttentionLayout& layout, const AttentionSite& site);

 private:
  /// Puts the keys and values of `step` in place, which must be the current step or next to it.
  void turn_to(std::int64_t step, const at::Tensor& fresh, const at::Tensor& slot);

  dist::RowStore store_;
  std::int64_t current_ = 0;  // the step whose keys and values are in place
};

}  // namespace ut::core
