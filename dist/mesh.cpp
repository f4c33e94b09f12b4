#include "dist/mesh.h"

#include <fmt/format.h>

#include "base/error.h"

namespace ut::dist {

Mesh::Mesh(std::unique_ptr<Communicator> world, int sequence_parallel) : world_(std::move(world)) {
  if (sequence_parallel < 1 || world_->size() % sequence_parallel != 0)
    throw base::BadInput(fmt::format("--sequence-parallel {}: must divide the number of ranks, which is {}",
                                     sequence_parallel, world_->size()));
  sequence_ = world_->split(world_->rank() / sequence_parallel);
}

SentBytes Mesh::sent_bytes() const {
  SentBytes sum = world_->sent_bytes();
  for (std::size_t purpose = 0; purpose < purposes; ++purpose) sum.at(purpose) += sequence_->sent_bytes().at(purpose);
  return sum;
}

}  // namespace ut::dist
