#pragma once

#include <chrono>
#include <memory>

#include "dist/communicator.h"

namespace ut::dist {

struct NcclOptions {
  int gpu = 0;  // this rank's, of those that its process sees
  /// That a collective may take from its call on, what the GPU has to do before it included.
  std::chrono::milliseconds timeout{300'000};
  /// Ranks of one host have a GPU in common. NCCL refuses that among the ranks of a host, so each is made to look like
  /// a host of its own (NCCL_HOSTID) and they talk over the network: for tests, not for speed.
  bool shared_gpus = false;
};

/// NCCL for CUDA tensors between the ranks of `host`, which goes on carrying the tensors of the CPU and brings the
/// ranks together. Collective. At most one of a process at a time, and what is split off it.
///
/// - Collectives run on a stream of their own. They begin once the caller's current stream has come to the call, and
///   that stream goes on once they have ended: events order the two, and the program waits for neither. A result can be
///   used as any other CUDA tensor.
/// - One stream for all groups of a process, so that no two groups' collectives are ever under way at once: with some
///   on the GPU in one order here and in another there, all would wait for ever.
/// - Counts are of elements, in 64 bits; bytes are only counted for sent_bytes().
/// - Calls to NCCL do not block (NCCL's non-blocking mode), so that a WorkWatch can abort all groups wherever a rank is
///   stuck. Then the collective, and each one after it, throws std::runtime_error.
/// - Destroying it ends it in order: waits for what is under way, finalizes, destroys; every rank must do so, for a
///   mesh's groups before its world, and all before MPI ends.
///
/// Throws std::runtime_error where LibTorch and this program would use two NCCLs, and where NCCL fails;
/// base::BadInput in a build without NCCL.
std::unique_ptr<Communicator> make_nccl_communicator(std::unique_ptr<Communicator> host, const NcclOptions& options);

/// Whether this build has NCCL.
bool has_nccl();

}  // namespace ut::dist
