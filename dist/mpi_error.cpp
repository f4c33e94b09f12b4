#include "dist/mpi_error.h"

#include <fmt/format.h>
#include <mpi.h>

#include <stdexcept>
#include <string>

namespace ut::dist {

void check_mpi(int code, const char* call) {
  if (code == MPI_SUCCESS) return;
  std::string text(MPI_MAX_ERROR_STRING, '\0');
  int length = 0;
  MPI_Error_string(code, text.data(), &length);
  throw std::runtime_error(fmt::format("{}: {}", call, text.substr(0, static_cast<std::size_t>(length))));
}

}  // namespace ut::dist
