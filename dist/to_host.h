#pragma once

#include <ATen/core/Tensor.h>

#include "dist/communicator.h"

namespace ut::dist {

/// Starts to copy a tensor to the host's memory. The result, when called, waits for the copy: for what the device was
/// given before it, not for what it was given since. A tensor that is on the host is returned itself.
PendingTensor start_to_host(const at::Tensor& tensor);

}  // namespace ut::dist
