#include "core/shared_rows.h"

#include <ATen/ATen.h>

#include "dist/accumulation_type.h"
#include "dist/differentiable.h"

namespace ut::core {
namespace {

bool is_rounded(const at::Tensor& rows) { return dist::accumulation_type(rows.scalar_type()) != rows.scalar_type(); }

/// A tensor of the rows' sizes and of the type in which their gradients are summed: autograd sums a tensor's gradients
/// in that tensor's type. Its values are not used and take no memory.
at::Tensor place_of_gradients(const at::Tensor& rows) {
  const auto options = rows.options().dtype(dist::accumulation_type(rows.scalar_type()));
  return dist::with_backward(
      at::zeros({1}, options).expand(rows.sizes()), {rows},
      [type = rows.scalar_type()](const at::Tensor& gradient) { return std::vector<at::Tensor>{gradient.to(type)}; });
}

at::Tensor with_gradients_at(const at::Tensor& place, const at::Tensor& rows) {
  return dist::with_backward(rows, {place}, [](const at::Tensor& gradient) {
    return std::vector<at::Tensor>{dist::in_accumulation_type(gradient)};
  });
}

}  // namespace

SharedRows::SharedRows(const std::vector<at::Tensor>& rows) {
  for (const at::Tensor& each : rows) {
    rows_.push_back(each.detach());
    inputs_.push_back(is_rounded(each) ? place_of_gradients(each) : each);
  }
}

std::vector<at::Tensor> SharedRows::rows_for(std::span<const at::Tensor> inputs) const {
  std::vector<at::Tensor> rows;
  for (std::size_t index = 0; index < inputs.size(); ++index)
    rows.push_back(is_rounded(rows_[index]) ? with_gradients_at(inputs[index], rows_[index]) : inputs[index]);
  return rows;
}

}  // namespace ut::core
