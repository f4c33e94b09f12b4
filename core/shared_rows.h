#pragma once

#include <ATen/core/Tensor.h>

#include <span>
#include <vector>

namespace ut::core {

/// Rows that every step of a stack takes, as a decoder's memory. Where they are of bfloat16, the gradients that the
/// steps have for them are added up in float32.
class SharedRows {
 public:
  SharedRows() = default;
  explicit SharedRows(const std::vector<at::Tensor>& rows);

  /// What is to be an input of a step, each for one of the rows: the gradient goes there.
  const std::vector<at::Tensor>& inputs() const { return inputs_; }
  /// The rows for a step with these inputs: those above or, where it is made again, others in their stead.
  std::vector<at::Tensor> of(std::span<const at::Tensor> inputs) const;

 private:
  std::vector<at::Tensor> rows_;
  std::vector<at::Tensor> inputs_;
};

}  // namespace ut::core
