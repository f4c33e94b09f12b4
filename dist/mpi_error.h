#pragma once

namespace ut::dist {

/// Throws std::runtime_error with MPI's own message unless `code`, which `call` has returned, is MPI_SUCCESS.
void check_mpi(int code, const char* call);

}  // namespace ut::dist
