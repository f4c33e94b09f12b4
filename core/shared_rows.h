#pragma once

#include <ATen/core/Tensor.h>

#include <span>
#include <vector>

namespace ut::core {

/// Rows that every step of a stack reads, such as a decoder's memory. If they are bfloat16, the gradients that the
/// steps have for them are summed in float32.
class SharedRows {
 public:
  SharedRows() = default;
  explicit SharedRows(const std::vector<at::Tensor>& rows);

  /// Tensors to pass to a step as inputs, one for each tensor of rows: they receive the gradients.
  const std::vector<at::Tensor>& inputs() const { return inputs_; }
  /// The rows for a step with these inputs: inputs() or, when the step is recomputed, tensors in place of them.
  std::vector<at::Tensor> rows_for(std::span<const at::Tensor> inputs) const;

 private:
  std::vector<at::Tensor> rows_;
  std::vector<at::Tensor> inputs_;
};

}  // namespace ut::core
