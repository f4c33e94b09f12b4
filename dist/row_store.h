#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

namespace ut::dist {

/// Rows that stay while others come anew, step by step, each in a slot of its own; on the way back, where steps go back
/// in reverse, what the gradient of each has come to so far. No graph is made.
class RowStore {
 public:
  explicit RowStore(std::int64_t slots) : slots_(slots) {}

  /// `rows` [rows, c] are new, in the slots `slot` [rows] int64, none of which stands there twice.
  void put(const at::Tensor& rows, const at::Tensor& slot);
  /// [slots, c]; undefined until some were put.
  const at::Tensor& rows() const { return rows_; }

  /// The gradients so far [slots, c], of dist::exact_type(), for who adds to them.
  at::Tensor& gradients();
  /// Those of `slot` [rows] int64, as the rows' type: whole when the step goes back in which these were new, before
  /// which other rows stood there, whose gradients start at zero. [rows, c]
  at::Tensor take_gradients(const at::Tensor& slot);

 private:
  std::int64_t slots_;
  at::Tensor rows_;
  at::Tensor gradients_;
};

}  // namespace ut::dist
