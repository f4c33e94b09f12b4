#pragma once

#include <memory>

#include "dist/communicator.h"

namespace ut::tests {

/// A new communicator over all ranks of this run. Collective.
std::unique_ptr<dist::Communicator> world();

}  // namespace ut::tests
