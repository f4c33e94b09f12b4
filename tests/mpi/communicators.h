#pragma once

#include <ATen/core/Tensor.h>

#include <functional>
#include <memory>
#include <ostream>
#include <string>
#include <vector>

#include "dist/communicator.h"

namespace ut::tests {

/// One of the communicators that the collectives' tests run over.
struct CommunicatorCase {
  std::string name;
  at::Device device;  // of the tensors that it is given
  /// Of its own group of ranks: all ranks, or of `single` this one. Collective.
  std::function<std::unique_ptr<dist::Communicator>()> make;
};

inline std::ostream& operator<<(std::ostream& stream, const CommunicatorCase& tested) { return stream << tested.name; }

/// All that should work here. What needs a GPU is among them where this build has CUDA and the machine a GPU, however
/// little of it works: then its tests fail, and are not skipped.
/// Collective, as is the next one.
std::vector<CommunicatorCase> communicator_cases();

/// Which they are, and which are left out and why: a line for each of the two.
std::string communicator_cases_text();

}  // namespace ut::tests
