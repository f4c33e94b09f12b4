#pragma once

#include <memory>

#include "dist/communicator.h"

namespace ut::tests {

/// All ranks of this run, as a communicator of its own. Collective.
std::unique_ptr<dist::Communicator> world();

}  // namespace ut::tests
