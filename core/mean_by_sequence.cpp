#include "core/mean_by_sequence.h"

#include <ATen/ATen.h>

#include "dist/differentiable.h"

namespace ut::core {

at::Tensor mean_by_sequence(const at::Tensor& values, const at::Tensor& sequence_index, std::int64_t sequences,
                            dist::Communicator& group) {
  const at::Tensor value_and_one = at::stack({values, at::ones_like(values)}, 1);  // [rows, 2]
  const at::Tensor mine = at::zeros({sequences, 2}, values.options()).index_add(0, sequence_index, value_and_one);
  const at::Tensor sums = dist::all_sum(mine, group);
  const at::Tensor means = sums.select(1, 0) / sums.select(1, 1).clamp_min(1);  // [sequences]
  return means.index_select(0, sequence_index);
}

}  // namespace ut::core
