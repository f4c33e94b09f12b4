#pragma once

#include <ATen/core/Tensor.h>

#include "dist/sequence_exchange.h"

namespace ut::core {

/// A convolution with one filter a channel: for each row the sum over places of kernel[place] times the known row that
/// it sees there, if any. `kernel` [width, c]. -> [rows, c]. No two rows see a known row at the same place.
at::Tensor depthwise(const dist::Neighbours& seen, const at::Tensor& kernel);

}  // namespace ut::core
