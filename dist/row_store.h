#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

namespace ut::dist {

/// Rows that stay while others come anew, step by step, each in a slot of its own; in the backward pass, where steps go
/// back in reverse, what the gradient of each has come to so far. No graph is made.
class RowStore {
 public:
  explicit RowStore(std::int64_t slots) : slots_(slots) {}

  /// `rows` [rows, c] are new, in the slots `slot` [rows] int64, none of which stands there twice.
  void put(const at::Tensor& rows, const at::Tensor& slot);
  /// [slots, c]; undefined until some were put.
  const at::Tensor& rows() const { return rows_; }

  /// The gradients so far [slots, c], of dist::accumulation_type(), for who adds to them.
  at::Tensor& gradients();
  /// Those of `slot` [rows] int64, as the rows' type [rows, c], which start anew from zero. To be called when the step
  /// goes back that put these rows there: all later steps have added theirs, and before it other rows stood there.
  at::Tensor take_gradients(const at::Tensor& slot);

 private:
  std::int64_t slots_;
  at::Tensor rows_;
  at::Tensor gradients_;
};

}  // namespace ut::dist
