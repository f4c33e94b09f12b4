#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

#include "datasets/task.h"
#include "dist/mesh.h"
#include "launcher/options/options.h"

namespace ut::launcher {

/// What a command works with on one rank.
struct Session {
  const Options& options;
  dist::Mesh& mesh;
  std::unique_ptr<datasets::Task> task;  // none if the command works on no data set
  std::atomic<std::int64_t>& update;     // the last that was finished, for messages about failures; -1: none

  /// Rank 0 speaks; the other ranks print only errors.
  bool speaks() const { return mesh.world().rank() == 0; }
};

}  // namespace ut::launcher
