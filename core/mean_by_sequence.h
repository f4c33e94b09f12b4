#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

#include "dist/communicator.h"

namespace ut::core {

/// For each row the mean of `values` [rows] float64 over the rows of its sequence: [rows]. `sequence_index` [rows]
/// int64: each row's sequence, below `sequences`. `group`: the ranks that hold these sequences' rows. Collective.
at::Tensor mean_by_sequence(const at::Tensor& values, const at::Tensor& sequence_index, std::int64_t sequences,
                            dist::Communicator& group);

}  // namespace ut::core
