#pragma once

#include <mpi.h>

#include <memory>

#include "dist/communicator.h"

namespace ut::dist {

struct MpiWatch;

/// Takes over `communicator`, whose collectives are watched over, if `watch` is given. They take CPU tensors.
std::unique_ptr<Communicator> make_mpi_communicator(MPI_Comm communicator, std::shared_ptr<MpiWatch> watch);

}  // namespace ut::dist
