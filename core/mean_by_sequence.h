#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <functional>

namespace ut::core {

/// The mean of `values` [rows] float64 over each row's sequence, of which `sequence_index` [rows] says the number;
/// `sum` adds over ranks.
at::Tensor mean_by_sequence(const at::Tensor& values, const at::Tensor& sequence_index, std::int64_t sequences,
                            const std::function<at::Tensor(const at::Tensor&)>& sum);

}  // namespace ut::core
