#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <functional>

namespace ut::core {

/// For each row the mean of `values` [rows] float64 over the rows of its sequence: [rows]. `sequence_index` [rows]
/// int64: each row's sequence, below `sequences`. `sum` adds a tensor over the ranks.
at::Tensor mean_by_sequence(const at::Tensor& values, const at::Tensor& sequence_index, std::int64_t sequences,
                            const std::function<at::Tensor(const at::Tensor&)>& sum);

}  // namespace ut::core
