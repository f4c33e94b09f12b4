#pragma once

#include <c10/core/Device.h>

#include <cstdint>

#include "dist/staging.h"

namespace ut::tests {

/// A device for machines without one, to find where a program takes it for the host: ATen computes on its tensors, the
/// host cannot touch their memory (a read or write ends the process), and tensors of the two that meet in an operation
/// are an error, other than single numbers, as with a GPU.
at::Device stand_in_device();

/// What its tensors take now.
std::int64_t stand_in_bytes();

/// How its tensors travel between ranks.
dist::Staging stand_in_device_staging();

}  // namespace ut::tests
