#pragma once

#include <memory>

#include "dist/communicator.h"

namespace ut::dist {

/// world = data-parallel x sequence-parallel, rank = data * S + sequence: the ranks that share a sequence are
/// neighbours.
class Mesh {
 public:
  /// Splits `world`, unless `sequence_parallel` is 1. Throws base::BadInput unless `sequence_parallel` is at least 1
  /// and divides the number of ranks. Collective.
  Mesh(std::unique_ptr<Communicator> world, int sequence_parallel);

  Communicator& world() const { return *world_; }
  /// The ranks that share this rank's sequences.
  Communicator& sequence() const { return *sequence_; }

  /// The device on which this rank works on its rows.
  at::Device device() const { return world_->device(); }

  int data_parallel() const { return world_->size() / sequence_->size(); }
  int sequence_parallel() const { return sequence_->size(); }
  int data_rank() const { return world_->rank() / sequence_->size(); }
  int sequence_rank() const { return sequence_->rank(); }

  /// Bytes that this rank sent, over all of the mesh's groups.
  SentBytes sent_bytes() const;
  /// Seconds that this rank waited for others, over all of the mesh's groups.
  WaitedSeconds waited_seconds() const;

 private:
  std::unique_ptr<Communicator> world_;
  std::unique_ptr<Communicator> sequence_;
};

}  // namespace ut::dist
