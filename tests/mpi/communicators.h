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
  at::Device device;  // of the tensors that it works on
  /// Over all ranks, or for `single` over this one. Collective.
  std::function<std::unique_ptr<dist::Communicator>()> make;
};

inline std::ostream& operator<<(std::ostream& stream, const CommunicatorCase& tested) { return stream << tested.name; }

/// All that should work here. Those that need a GPU are among them if this build has CUDA and the machine has a GPU. If
/// that GPU does not work, their tests fail: they are not skipped.
/// Collective, as is communicator_cases_text().
std::vector<CommunicatorCase> communicator_cases();

/// One line that names the cases, and one that names those left out and says why, if any.
std::string communicator_cases_text();

}  // namespace ut::tests
