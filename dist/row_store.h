#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

namespace ut::dist {

/// Rows that are kept over steps, each in a slot of its own, while other rows are made anew in every step. In the
/// backward pass, which goes through the steps in reverse, it holds the gradient of each row so far. No graph is made.
class RowStore {
 public:
  explicit RowStore(std::int64_t slots) : slots_(slots) {}

  /// Puts `rows` [rows, c] into the slots `slot` [rows] int64, none of which may be named twice.
  void put(const at::Tensor& rows, const at::Tensor& slot);
  /// [slots, c]; undefined until the first put().
  const at::Tensor& rows() const { return rows_; }

  /// The gradients so far [slots, c], of accumulation_type(). Callers add to them.
  at::Tensor& gradients();
  /// Returns the gradients of the slots `slot` [rows] int64, in the rows' type [rows, c], and sets them to zero. Call
  /// it in the backward pass of the step that put these rows there: all later steps have then added their gradients,
  /// and before that step other rows stood there.
  at::Tensor take_gradients(const at::Tensor& slot);

 private:
  std::int64_t slots_;
  at::Tensor rows_;
  at::Tensor gradients_;
};

}  // namespace ut::dist
