#pragma once

#include <mpi.h>

#include <memory>

#include "dist/communicator.h"

namespace ut::dist {

struct MpiWatch;

/// Takes ownership of `communicator`. Its collectives take CPU tensors and are watched over if `watch` is given.
std::unique_ptr<Communicator> make_mpi_communicator(MPI_Comm communicator, std::shared_ptr<MpiWatch> watch);

}  // namespace ut::dist
