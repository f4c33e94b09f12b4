#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "dist/communicator.h"
#include "launcher/options/options.h"

namespace ut::launcher {

/// What a process can use of its host's GPUs.
struct VisibleGpus {
  bool in_build = false;  // this build has CUDA
  int count = 0;
  std::string problem;  // why there is none, in CUDA's words
};

/// What a GPU says of itself.
struct GpuKind {
  std::string name;
  double memory_bytes = 0;
};

/// How many GPUs this host has, whether or not they can be used.
std::int64_t gpus_of_host();

/// The GPUs of this process. This and the next three functions need CUDA: gpus.cpp, or no_gpus.cpp in a build without
/// it.
VisibleGpus find_gpus();
/// Names a GPU by its host and its place in that host, however many GPUs this process sees.
std::string gpu_place(int gpu);
GpuKind kind_of_gpu(int gpu);
/// Makes this the GPU of tensors that this thread makes without naming a device.
void use_gpu(int gpu);

/// find_gpus() or, if none is wanted, none: CUDA takes seconds to answer, and may hang if a GPU is broken.
VisibleGpus gpus_for(DeviceChoice asked);

/// Where a rank's tensors live.
struct RankDevice {
  bool cuda = false;
  int gpu = 0;          // among those that its process sees
  bool shared = false;  // some ranks share a GPU
};

/// Returns when the device has computed the tensor.
void wait_for(const at::Tensor& tensor);

/// One GPU for each rank of a host, in their order. If a rank sees fewer GPUs than the host has ranks, the count begins
/// again at the first, because what started a rank may show it only its own GPU. Throws base::BadInput, which says why
/// and what helps, if a GPU was asked for and there is none.
RankDevice choose_device(DeviceChoice asked, const VisibleGpus& gpus, std::int64_t local_rank);

/// The message for a host whose GPUs are left unused though nobody asked for that; empty: none. `on_host`: how many
/// GPUs it has. `visible`: the value of CUDA_VISIBLE_DEVICES, which may hide them; null: it is not set.
std::string say_of_unused_gpus(DeviceChoice asked, const VisibleGpus& gpus, std::int64_t on_host, const char* visible);

/// `places` [ranks] names each rank's GPU; empty for a rank on the CPU. `problems` [ranks] says why such a rank has
/// none. Returns whether any two ranks share a GPU. Throws base::BadInput if they do without `share_gpus`, or if some
/// ranks are on CPUs and others on GPUs.
bool check_places(const std::vector<std::string>& places, const std::vector<std::string>& problems, bool share_gpus);

/// mpi or nccl. Throws base::BadInput if nccl was asked for on the CPU.
CommunicatorChoice choose_communicator(CommunicatorChoice asked, const RankDevice& device);

/// This rank's device, after all ranks have checked that their devices go together. Throws AgreedBadInput. Collective.
RankDevice agree_on_device(const Options& options, std::int64_t local_rank, dist::Communicator& world);

/// The communicator that the options ask for, over the ranks of `host`, for tensors on `device` and on the CPU. It
/// calls stuck(what happened) once nothing but the end of the process helps. Throws AgreedBadInput. Collective.
std::unique_ptr<dist::Communicator> make_communicator(const Options& options, const RankDevice& device,
                                                      std::unique_ptr<dist::Communicator> host,
                                                      const std::function<void(const std::string&)>& stuck);

}  // namespace ut::launcher
