#include <cuda_runtime_api.h>
#include <nccl.h>

#include <string>

namespace ut::launcher {

std::string cuda_build_info();

std::string cuda_build_info() {
  int runtime = 0;
  int devices = 0;
  int nccl = 0;
  cudaRuntimeGetVersion(&runtime);
  if (cudaGetDeviceCount(&devices) != cudaSuccess) devices = 0;
  ncclGetVersion(&nccl);
  return "CUDA: run time " + std::to_string(runtime / 1000) + "." + std::to_string(runtime % 1000 / 10) + ", " +
         std::to_string(devices) + " devices here\nNCCL: " + std::to_string(nccl / 10000) + "." +
         std::to_string(nccl % 10000 / 100) + "." + std::to_string(nccl % 100) + "\n";
}

}  // namespace ut::launcher
