#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <span>

namespace ut::dist {

/// A tensor of the host's on `device`, which has it before what it is given next; the caller does not wait.
at::Tensor on_device(const at::Tensor& host, at::Device device);
/// The same of numbers: [numbers] int64.
at::Tensor on_device(std::span<const std::int64_t> numbers, at::Device device);

}  // namespace ut::dist
