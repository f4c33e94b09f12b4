#pragma once

#include <functional>
#include <memory>

#include "dist/communicator.h"

namespace ut::dist {

/// How tensors of a device get to memory that the host's network can read, and back.
struct Staging {
  at::Device device;
  std::function<bool(const at::Tensor&)> is_on_device;
  /// A contiguous copy on the host, complete when this returns.
  std::function<at::Tensor(const at::Tensor&)> to_host;
  /// Fills `device` with what `host` holds, before anything that is done with `device` later.
  std::function<void(const at::Tensor& host, const at::Tensor& device)> to_device;
};

/// Takes CUDA tensors through pinned memory, on the caller's current stream. Needs nothing of CUDA beyond LibTorch, so
/// it is in every build.
Staging cuda_staging(at::Device device);

/// Extends `host` to tensors of a device: each collective copies them to the host, runs there and copies back. For
/// machines where NCCL cannot run: the caller waits for the GPU in every collective. Host tensors pass unchanged.
std::unique_ptr<Communicator> make_staged_communicator(std::unique_ptr<Communicator> host, Staging staging);

}  // namespace ut::dist
