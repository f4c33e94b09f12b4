#include "dist/to_host.h"

#include <ATen/ATen.h>
#include <c10/core/Event.h>
#include <c10/core/impl/VirtualGuardImpl.h>

#include <memory>

namespace ut::dist {

PendingTensor start_to_host(const at::Tensor& tensor) {
  if (tensor.is_cpu()) return [tensor] { return tensor; };
  const at::Device device = tensor.device();
  at::Tensor host = at::empty(tensor.sizes(), tensor.options().device(at::kCPU).pinned_memory(device.is_cuda()));
  host.copy_(tensor, /*non_blocking=*/true);
  const auto copied = std::make_shared<c10::Event>(device.type());
  copied->record(c10::impl::VirtualGuardImpl(device.type()).getStream(device));
  return [host, copied] {
    copied->synchronize();
    return host;
  };
}

}  // namespace ut::dist
