#include "dist/on_device.h"

#include <ATen/ATen.h>

namespace ut::dist {

// LibTorch keeps pinned memory until copies of it have ended, so `host` need not outlive the call.
at::Tensor on_device(const at::Tensor& host, at::Device device) {
  return (device.is_cuda() ? host.pin_memory() : host).to(device, /*non_blocking=*/true);
}

at::Tensor on_device(std::span<const std::int64_t> numbers, at::Device device) {
  return on_device(at::tensor(at::ArrayRef(numbers.data(), numbers.size()), at::kLong), device);
}

}  // namespace ut::dist
