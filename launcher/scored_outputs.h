#pragma once

#include <string>
#include <vector>

#include "dist/communicator.h"
#include "launcher/run/evaluation.h"

namespace ut::launcher {

/// What a model made of each example of a split, a JSON object a line.
class ScoredOutputs {
 public:
  ScoredOutputs(const datasets::Task& task, datasets::Split split) : task_(task), split_(split) {}

  void add(const ScoredExample& scored);
  /// Writes what all ranks have added into one file, in the examples' order. Throws base::BadInput, or, on rank 0
  /// alone, std::runtime_error where it cannot be written. Collective.
  void write(const std::string& file, dist::Communicator& world) const;

 private:
  const datasets::Task& task_;
  datasets::Split split_;
  std::vector<std::string> lines_;
};

}  // namespace ut::launcher
