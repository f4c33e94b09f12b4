#pragma once

#include <c10/core/Device.h>

#include <cstdint>

#include "dist/staging.h"

namespace ut::tests {

/// A device for machines without one, to find code that treats device tensors as the host's. ATen computes on its
/// tensors, but the host cannot touch their memory: a read or write ends the process. As with a GPU, an operation on
/// tensors of both is an error, unless those of the host are single numbers.
at::Device stand_in_device();

/// The bytes that its tensors take now.
std::int64_t stand_in_bytes();

/// How its tensors travel between ranks.
dist::Staging stand_in_device_staging();

}  // namespace ut::tests
