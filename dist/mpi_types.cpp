#include "dist/mpi_types.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <limits>
#include <stdexcept>

#include "dist/mpi_error.h"
#include "dist/row_tensors.h"

namespace ut::dist {

MPI_Datatype datatype(const at::Tensor& tensor) {
  switch (tensor.scalar_type()) {
    case at::kFloat:
      return MPI_FLOAT;
    case at::kDouble:
      return MPI_DOUBLE;
    case at::kLong:
      return MPI_INT64_T;
    case at::kByte:
      return MPI_UINT8_T;
    case at::kBFloat16:
      return MPI_UINT16_T;  // to be moved, not to be summed
    default:
      throw std::runtime_error(fmt::format("MPI communicator: no data type for {}", toString(tensor.scalar_type())));
  }
}

MPI_Datatype sum_datatype(const at::Tensor& tensor) {
  if (tensor.scalar_type() == at::kBFloat16) throw std::runtime_error("MPI communicator: cannot sum bfloat16");
  return datatype(tensor);
}

Parts::Parts(std::span<const std::int64_t> rows) {
  for (const std::int64_t count : rows) {
    if (count > std::numeric_limits<int>::max() - total)
      throw std::runtime_error("MPI communicator: more rows in one message than MPI can count");
    counts.push_back(static_cast<int>(count));
    begins.push_back(static_cast<int>(total));
    total += count;
  }
}

RowType::RowType(const at::Tensor& rows) {
  const std::int64_t elements = row_elements(rows);
  if (elements > std::numeric_limits<int>::max())
    throw std::runtime_error("MPI communicator: more numbers in a row than MPI can count");
  check_mpi(MPI_Type_contiguous(static_cast<int>(elements), datatype(rows), &type_), "MPI_Type_contiguous");
  check_mpi(MPI_Type_commit(&type_), "MPI_Type_commit");
}

RowType::~RowType() { MPI_Type_free(&type_); }

}  // namespace ut::dist
