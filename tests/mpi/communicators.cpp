#include "tests/mpi/communicators.h"

#include <ATen/ATen.h>
#include <ATen/detail/CUDAHooksInterface.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <filesystem>

#include "dist/nccl.h"
#include "dist/staging.h"
#include "tests/mpi/world.h"

namespace ut::tests {
namespace {

/// Treats host memory as a device's: everything is copied there and back.
dist::Staging stand_in_staging() {
  return {at::kCPU, [](const at::Tensor&) { return true; },
          [](const at::Tensor& tensor) { return tensor.clone(at::MemoryFormat::Contiguous); },
          [](const at::Tensor& host, const at::Tensor& device) { device.copy_(host); }};
}

/// Whether the driver has made a device node, even if CUDA cannot use the GPU: then the tests are to fail.
bool machine_has_gpu() {
  std::error_code unreadable;
  for (const auto& entry : std::filesystem::directory_iterator("/dev", unreadable)) {
    const std::string name = entry.path().filename();
    if (name.starts_with("nvidia") && name.size() > 6 && std::isdigit(static_cast<unsigned char>(name[6])) != 0)
      return true;
  }
  return at::detail::getCUDAHooks().deviceCount() > 0;
}

/// How many GPUs the ranks take in turn; at least 1, so that there is one to name.
int gpus() { return std::max(1, static_cast<int>(at::detail::getCUDAHooks().deviceCount())); }

std::vector<CommunicatorCase> gpu_cases() {
  const int rank = world()->rank();
  const auto gpu = static_cast<c10::DeviceIndex>(rank % gpus());
  const at::Device device(at::kCUDA, gpu);
  return {
      {"staged_cuda", device, [device] { return dist::make_staged_communicator(world(), dist::cuda_staging(device)); }},
      {"nccl", device, [gpu] {
         auto host = world();
         const bool shared = host->size() > gpus();
         return dist::make_nccl_communicator(std::move(host), {.gpu = gpu, .shared_gpus = shared});
       }}};
}

}  // namespace

std::vector<CommunicatorCase> communicator_cases() {
  std::vector<CommunicatorCase> cases = {
      {"single", at::kCPU, [] { return dist::make_single_communicator(); }},
      {"mpi", at::kCPU, [] { return world(); }},
      {"staged", at::kCPU, [] { return dist::make_staged_communicator(world(), stand_in_staging()); }}};
  if (dist::has_nccl() && machine_has_gpu()) std::ranges::move(gpu_cases(), std::back_inserter(cases));
  return cases;
}

std::string communicator_cases_text() {
  std::vector<std::string> names;
  for (const auto& tested : communicator_cases()) names.push_back(tested.name);
  std::string text = fmt::format("collectives are tested over: {}\n", fmt::join(names, ", "));
  if (std::ranges::find(names, "nccl") != names.end()) return text;
  return text + fmt::format("and not over staged_cuda, nccl: {}\n",
                            dist::has_nccl() ? "this machine has no GPU" : "this build has no CUDA");
}

}  // namespace ut::tests
