#include "dist/mesh.h"

#include "base/error.h"

namespace ut::dist {

Mesh::Mesh(std::unique_ptr<Communicator> world, int sequence_parallel) : world_(std::move(world)) {
  if (sequence_parallel < 1 || world_->size() % sequence_parallel != 0)
    throw base::BadInput("--sequence-parallel {}: must divide the number of ranks, which is {}", sequence_parallel,
                         world_->size());
  sequence_ = sequence_parallel == 1 ? make_single_communicator(world_->device())
                                     : world_->split(world_->rank() / sequence_parallel);
}

SentBytes Mesh::sent_bytes() const { return sum_of(world_->sent_bytes(), sequence_->sent_bytes()); }

WaitedSeconds Mesh::waited_seconds() const { return sum_of(world_->waited_seconds(), sequence_->waited_seconds()); }

}  // namespace ut::dist
