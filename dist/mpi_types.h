#pragma once

#include <ATen/core/Tensor.h>
#include <mpi.h>

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

namespace ut::dist {

// Descriptions of tensors for MPI, which counts in int. They throw std::runtime_error if MPI cannot handle a tensor.

/// The element type of a tensor that is moved.
MPI_Datatype datatype(const at::Tensor& tensor);

/// The element type of a tensor that is summed over ranks.
MPI_Datatype sum_datatype(const at::Tensor& tensor);

/// Where each rank's rows lie in a buffer, counted in whole rows so that the numbers stay small.
struct Parts {
  explicit Parts(std::span<const std::int64_t> rows);

  std::vector<int> counts;
  std::vector<int> begins;
  std::int64_t total = 0;
};

/// Calls use(data, elements) for successive chunks of the tensor, each small enough for MPI to count.
template <class Use>
void for_each_chunk(const at::Tensor& tensor, const Use& use) {
  constexpr std::int64_t at_once = std::int64_t{1} << 30;
  auto* bytes = static_cast<char*>(tensor.data_ptr());
  for (std::int64_t begin = 0; begin < tensor.numel(); begin += at_once)
    use(bytes + begin * static_cast<std::int64_t>(tensor.element_size()),
        static_cast<int>(std::min(at_once, tensor.numel() - begin)));
}

/// A row of elements as one MPI type.
class RowType {
 public:
  explicit RowType(const at::Tensor& rows);
  ~RowType();
  RowType(const RowType&) = delete;
  RowType& operator=(const RowType&) = delete;
  MPI_Datatype get() const { return type_; }

 private:
  MPI_Datatype type_ = MPI_DATATYPE_NULL;
};

}  // namespace ut::dist
