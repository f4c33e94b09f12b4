#pragma once

namespace ut::dist {

/// Throws std::runtime_error with MPI's own words where a call of it has not returned MPI_SUCCESS.
void check_mpi(int code, const char* call);

}  // namespace ut::dist
