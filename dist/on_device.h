#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <span>

namespace ut::dist {

/// Copies a host tensor to `device` without waiting. Work that the device is given later sees the copy.
at::Tensor on_device(const at::Tensor& host, at::Device device);
/// The same for numbers: [numbers] int64.
at::Tensor on_device(std::span<const std::int64_t> numbers, at::Device device);

}  // namespace ut::dist
