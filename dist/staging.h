#pragma once

#include <functional>
#include <memory>

#include "dist/communicator.h"

namespace ut::dist {

/// How tensors of a device come to memory that a network of the host's can read, and back.
struct Staging {
  at::Device device;
  std::function<bool(const at::Tensor&)> is_on_device;
  /// A contiguous copy on the host, whole when this returns.
  std::function<at::Tensor(const at::Tensor&)> to_host;
  /// Fills `device` with what `host` holds, before anything that is done with `device` next.
  std::function<void(const at::Tensor& host, const at::Tensor& device)> to_device;
};

/// CUDA tensors through pinned memory, on the caller's current stream. Needs no part of CUDA but what LibTorch has of
/// it, so it is in every build.
Staging cuda_staging(at::Device device);

/// `host` for tensors of a device as well: each collective copies them to the host, runs there and copies back. It is
/// for where NCCL cannot run; the caller waits for the GPU in every collective. Host tensors pass unchanged.
std::unique_ptr<Communicator> make_staged_communicator(std::unique_ptr<Communicator> host, Staging staging);

}  // namespace ut::dist
