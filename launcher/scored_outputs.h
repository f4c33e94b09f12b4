#pragma once

#include <string>
#include <vector>

#include "dist/communicator.h"
#include "launcher/run/evaluation.h"

namespace ut::launcher {

/// Collects a model's output for each example of a split, each as one line of JSON.
class ScoredOutputs {
 public:
  ScoredOutputs(const datasets::Task& task, datasets::Split split) : task_(task), split_(split) {}

  void add(const ScoredExample& scored);
  /// Writes what all ranks have added into one file, in the order of the examples. If it cannot be written, throws
  /// base::BadInput on all ranks, or std::runtime_error on rank 0 alone. Collective.
  void write(const std::string& file, dist::Communicator& world) const;

 private:
  const datasets::Task& task_;
  datasets::Split split_;
  std::vector<std::string> lines_;
};

}  // namespace ut::launcher
