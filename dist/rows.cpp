#include "dist/rows.h"

#include <ATen/ATen.h>

#include <algorithm>

namespace ut::dist {

Span share(std::int64_t length, int rank, int ranks) { return {length * rank / ranks, length * (rank + 1) / ranks}; }

int owner(std::int64_t position, std::int64_t length, int ranks) {
  return static_cast<int>(((position + 1) * ranks - 1) / length);
}

Rows rows_of(const Sequences& sequences, int rank, int ranks) {
  std::vector<std::int64_t> sequence;
  std::vector<std::int64_t> position;
  std::vector<std::int64_t> offsets{0};
  for (std::size_t index = 0; index < sequences.ids.size(); ++index) {
    const Span mine = share(sequences.lengths[index], rank, ranks);
    for (std::int64_t place = mine.begin; place < mine.end; ++place) {
      sequence.push_back(sequences.ids[index]);
      position.push_back(place);
    }
    offsets.push_back(static_cast<std::int64_t>(position.size()));
  }
  return {at::tensor(sequence, at::kLong), at::tensor(position, at::kLong), std::move(offsets)};
}

std::int64_t longest(const Rows& rows) {
  std::int64_t most = 0;
  for (std::size_t index = 1; index < rows.offsets.size(); ++index)
    most = std::max(most, rows.offsets[index] - rows.offsets[index - 1]);
  return most;
}

std::pair<Rows, std::vector<std::int64_t>> rows_of_sequences(const Rows& rows,
                                                             std::span<const std::int64_t> sequences) {
  std::vector<std::int64_t> places;
  Rows result;
  result.offsets.push_back(0);
  for (const std::int64_t sequence : sequences) {
    const auto index = static_cast<std::size_t>(sequence);
    for (auto row = rows.offsets[index]; row < rows.offsets[index + 1]; ++row) places.push_back(row);
    result.offsets.push_back(static_cast<std::int64_t>(places.size()));
  }
  const at::Tensor numbers = at::tensor(places, at::kLong);
  result.sequence = rows.sequence.index_select(0, numbers);
  result.position = rows.position.index_select(0, numbers);
  return {std::move(result), std::move(places)};
}

}  // namespace ut::dist
