#include <cuda_runtime_api.h>
#include <fmt/format.h>

#include <array>
#include <stdexcept>
#include <string>

#include "launcher/ranks/device.h"
#include "launcher/ranks/rank_hosts.h"

namespace ut::launcher {
namespace {

void check(cudaError_t error, const char* call) {
  if (error != cudaSuccess) throw std::runtime_error(fmt::format("{}: {}", call, cudaGetErrorString(error)));
}

constexpr int least_capability = 80;  // CMAKE_CUDA_ARCHITECTURES

/// 80 means 8.0.
int compute_capability(int gpu) {
  int major = 0;
  int minor = 0;
  check(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, gpu), "cudaDeviceGetAttribute");
  check(cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, gpu), "cudaDeviceGetAttribute");
  return 10 * major + minor;
}

}  // namespace

VisibleGpus find_gpus() {
  int count = 0;  // stays 0 if there is no driver
  const cudaError_t error = cudaGetDeviceCount(&count);
  if (error != cudaSuccess) return {.in_build = true, .count = 0, .problem = cudaGetErrorString(error)};
  for (int gpu = 0; gpu < count; ++gpu)
    if (const int capability = compute_capability(gpu); capability < least_capability)
      return {.in_build = true,
              .count = 0,
              .problem = fmt::format("GPU {} has compute capability {}.{}, but the kernels need {}.0 or later; "
                                     "CUDA_VISIBLE_DEVICES can leave that GPU out",
                                     gpu, capability / 10, capability % 10, least_capability / 10)};
  return {.in_build = true, .count = count, .problem = count == 0 ? "CUDA finds none" : ""};
}

std::string gpu_place(int gpu) {
  std::array<char, 32> id{};
  check(cudaDeviceGetPCIBusId(id.data(), static_cast<int>(id.size()), gpu), "cudaDeviceGetPCIBusId");
  return fmt::format("host {}, PCI {}", host_name(), id.data());
}

GpuKind kind_of_gpu(int gpu) {
  cudaDeviceProp properties{};
  check(cudaGetDeviceProperties(&properties, gpu), "cudaGetDeviceProperties");
  return {std::string(properties.name), static_cast<double>(properties.totalGlobalMem)};
}

void use_gpu(int gpu) { check(cudaSetDevice(gpu), "cudaSetDevice"); }

}  // namespace ut::launcher
