#pragma once

#include <ATen/core/Tensor.h>

#include "dist/sequence_exchange.h"

namespace ut::core {

/// A convolution with one filter per channel: for each row the sum over places of kernel[place] times the known row
/// (one of seen.rows or seen.received) that it sees there, if any. `kernel` [width, c]. Returns [rows, c]. No two rows
/// may see the same known row at the same place.
at::Tensor depthwise(const dist::Neighbours& seen, const at::Tensor& kernel);

}  // namespace ut::core
