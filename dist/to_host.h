#pragma once

#include <ATen/core/Tensor.h>

#include "dist/communicator.h"

namespace ut::dist {

/// Begins to copy a tensor to the host's memory. It is there when what this returns has been called, which waits for
/// what the device was given before, and not for what it was given since. A tensor of the host's is its own copy.
Arriving start_to_host(const at::Tensor& tensor);

}  // namespace ut::dist
