#include "dist/rows.h"

#include <ATen/ATen.h>

#include <algorithm>

#include "base/span.h"
#include "dist/on_device.h"

namespace ut::dist {

namespace {

/// The numbers of the spans that a rank holds, and how many spans a sequence is cut into.
std::pair<std::vector<int>, int> spans_of(int rank, int ranks, Cut cut) {
  if (cut == Cut::contiguous) return {{rank}, ranks};
  return {{rank, 2 * ranks - 1 - rank}, 2 * ranks};
}

/// If a sequence's parts are not equal, which ones are larger differs from sequence to sequence.
std::int64_t rounding_of(std::int64_t sequence, int parts) { return sequence % parts; }

}  // namespace

const at::Tensor& Rows::identities_on(at::Device device) const {
  if (!copy->defined()) *copy = on_device(at::stack({sequence, position}), device);
  return *copy;
}

int owner(std::int64_t sequence, std::int64_t position, std::int64_t length, int ranks, Cut cut) {
  const auto part_of = [&](int parts) {
    return static_cast<int>(((position + 1) * parts - 1 - rounding_of(sequence, parts)) / length);
  };
  if (cut == Cut::contiguous) return part_of(ranks);
  const int part = part_of(2 * ranks);
  return std::min(part, 2 * ranks - 1 - part);
}

Rows rows_of(const Sequences& sequences, int rank, int ranks, Cut cut) {
  const auto [numbers, parts] = spans_of(rank, ranks, cut);
  std::vector<std::int64_t> sequence;
  std::vector<std::int64_t> position;
  std::vector<std::int64_t> offsets{0};
  for (std::size_t index = 0; index < sequences.ids.size(); ++index) {
    const std::int64_t id = sequences.ids[index];
    for (const int number : numbers) {
      const base::Span span = base::share(sequences.lengths[index], number, parts, rounding_of(id, parts));
      for (std::int64_t place = span.begin; place < span.end; ++place) position.push_back(place);
    }
    sequence.resize(position.size(), id);
    offsets.push_back(std::ssize(position));
  }
  return {at::tensor(sequence, at::kLong), at::tensor(position, at::kLong), std::move(offsets)};
}

std::vector<std::int64_t> sequence_numbers(const Rows& rows) {
  std::vector<std::int64_t> numbers;
  for (std::size_t index = 0; index + 1 < rows.offsets.size(); ++index)
    numbers.insert(numbers.end(), static_cast<std::size_t>(rows.offsets[index + 1] - rows.offsets[index]),
                   static_cast<std::int64_t>(index));
  return numbers;
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
