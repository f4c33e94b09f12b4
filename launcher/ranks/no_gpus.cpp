#include <stdexcept>

#include "launcher/ranks/device.h"

namespace ut::launcher {

VisibleGpus find_gpus() { return {}; }

// Not reached: no process of this build sees a GPU.
std::string gpu_place(int) { throw std::logic_error("a GPU in a build without CUDA"); }
GpuKind kind_of_gpu(int) { throw std::logic_error("a GPU in a build without CUDA"); }
void use_gpu(int) { throw std::logic_error("a GPU in a build without CUDA"); }

}  // namespace ut::launcher
