#include "dist/communicator.h"

#include <ATen/ATen.h>

#include "dist/row_tensors.h"

namespace ut::dist {

void Communicator::count_all_reduce(const at::Tensor& tensor, Purpose purpose) {
  add_sent(purpose, 2 * bytes_of(tensor) * (size() - 1) / size());
}

void Communicator::count_to_all(const at::Tensor& mine, Purpose purpose) {
  add_sent(purpose, bytes_of(mine) * (size() - 1));
}

void Communicator::count_shift(const at::Tensor& mine, int distance, Purpose purpose) {
  if (rank_at(distance) != rank()) add_sent(purpose, bytes_of(mine));
}

void Communicator::count_all_to_all(const at::Tensor& rows, std::span<const std::int64_t> sent, Purpose purpose) {
  const std::int64_t kept = sent[static_cast<std::size_t>(rank())];
  add_sent(purpose, bytes_of(rows) - bytes_of(rows.narrow(0, 0, kept)));
}

}  // namespace ut::dist
