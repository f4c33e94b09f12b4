#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>

#include "dist/communicator.h"

namespace ut::dist {

struct NcclOptions {
  int gpu = 0;  // this rank's, a number among those that its process sees
  /// The time that a collective may take from its call on, including work that the GPU has to do before it.
  std::chrono::milliseconds timeout{300'000};
  /// Ranks of one host share a GPU. NCCL refuses that among the ranks of a host, so each rank is made to look like a
  /// host of its own (NCCL_HOSTID) and they talk over the network: for tests, not for speed.
  bool shared_gpus = false;
  /// Called if collectives cannot even be given up: see WorkWatch.
  std::function<void(const std::string& what)> stuck = [](const std::string&) {};
};

/// NCCL for CUDA tensors between the ranks of `host`. `host` brings the ranks together and goes on carrying CPU
/// tensors. Collective. A process may have only one at a time, with the groups split off it.
///
/// - Collectives run on a stream of their own. They begin once the caller's current stream has reached the call, and
///   that stream goes on once they have ended. Events order the two streams; the program waits for neither. A result
///   can be used as any other CUDA tensor.
/// - All groups of a process share one stream, so that no two groups' collectives are ever under way at once. If GPUs
///   ran them in different orders, all would wait for ever.
/// - Counts are of elements, in 64 bits; bytes are only counted for sent_bytes().
/// - Calls to NCCL do not block (NCCL's non-blocking mode), so that a WorkWatch can abort all groups wherever a rank is
///   stuck. The collective and every later one then throw std::runtime_error.
/// - Destroying it waits for what is under way, finalizes and destroys. Every rank must do so, for a mesh's groups
///   before its world, and for all before MPI ends.
///
/// Throws std::runtime_error if LibTorch and this program would use two NCCLs, or if NCCL fails; base::BadInput in a
/// build without NCCL.
std::unique_ptr<Communicator> make_nccl_communicator(std::unique_ptr<Communicator> host, const NcclOptions& options);

/// Whether this build has NCCL.
bool has_nccl();

}  // namespace ut::dist
