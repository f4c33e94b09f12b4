#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "dist/communicator.h"
#include "launcher/options/options.h"

namespace ut::launcher {

/// What a process can use of GPUs.
struct VisibleGpus {
  bool in_build = false;  // this build has CUDA
  int count = 0;
  std::string problem;  // why there is none, in CUDA's words
};

/// Of this host, whether or not they can be used.
std::int64_t gpus_of_host();

/// Of this process. This and the next two are what needs CUDA: gpus.cpp, or no_gpus.cpp in a build without.
VisibleGpus find_gpus();
/// Its host and which GPU of that host it is, however many of them this process sees.
std::string gpu_place(int gpu);
/// Makes it the GPU that this thread's tensors are made on, where they do not say.
void use_gpu(int gpu);

/// Where a rank's tensors live.
struct RankDevice {
  bool cuda = false;
  int gpu = 0;          // of those that its process sees
  bool shared = false;  // some ranks have a GPU in common
};

/// Returns when the device has made the tensor.
void wait_for(const at::Tensor& tensor);

/// One GPU for each rank of a host, in their order; where a rank sees fewer GPUs than the host has ranks, from the
/// first again: what started it may show each rank its own GPU alone. Throws base::BadInput where a GPU was asked for
/// and cannot be had; says why and what helps.
RankDevice choose_device(DeviceChoice asked, const VisibleGpus& gpus, std::int64_t local_rank);

/// What is to be said where a host's GPUs are left unused and nobody asked for that; empty: nothing. `on_host`: how
/// many it has. `visible`: what CUDA_VISIBLE_DEVICES is set to, which may hide them; null: it is not set.
std::string say_of_unused_gpus(DeviceChoice asked, const VisibleGpus& gpus, std::int64_t on_host, const char* visible);

/// `places` names each rank's GPU, or is empty for a rank on the CPU. Returns whether any two ranks have
/// one GPU. Throws base::BadInput where they do and that was not asked for, and where ranks are on CPUs and GPUs.
bool check_places(const std::vector<std::string>& places, bool share_gpus);

/// mpi or nccl. Throws base::BadInput where nccl was asked for on the CPU.
CommunicatorChoice choose_communicator(CommunicatorChoice asked, const RankDevice& device);

/// This rank's device, after all ranks have seen that their devices go together. Collective; throws AgreedBadInput.
RankDevice agree_on_device(const Options& options, std::int64_t local_rank, dist::Communicator& world);

/// The communicator that the options ask for, of the ranks of `host`, for tensors on `device` and on the CPU.
/// Collective; throws AgreedBadInput.
std::unique_ptr<dist::Communicator> make_communicator(const Options& options, const RankDevice& device,
                                                      std::unique_ptr<dist::Communicator> host);

}  // namespace ut::launcher
