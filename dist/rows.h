#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "dist/exchange_options.h"

namespace ut::dist {

/// Says which row of a matrix [rows, d] is which. It is in the host's memory, wherever the matrix is. Rows stand in the
/// order of their sequences, then of their positions; there is no padding. The identity of a row is (sequence,
/// position), whatever its place in memory.
struct Rows {
  at::Tensor sequence;                // [rows] int64: the sequence's number in the update's global batch
  at::Tensor position;                // [rows] int64, from 0
  std::vector<std::int64_t> offsets;  // [sequences + 1]: the first row of each sequence
  std::shared_ptr<at::Tensor> copy = std::make_shared<at::Tensor>();  // cache of identities_on()

  std::int64_t count() const { return offsets.back(); }
  std::int64_t sequences() const { return static_cast<std::int64_t>(offsets.size()) - 1; }
  /// `sequence`, then `position` [2, rows] int64, on `device`. Only one device may ever be asked for: the copy is made
  /// once and is shared by all copies of these rows.
  const at::Tensor& identities_on(at::Device device) const;
};

/// The sequences that a group of ranks shares: their numbers in the global batch and their lengths.
struct Sequences {
  std::vector<std::int64_t> ids;
  std::vector<std::int64_t> lengths;
};

/// The rank that holds this position of the sequence with this id.
int owner(std::int64_t sequence, std::int64_t position, std::int64_t length, int ranks, Cut cut = Cut::contiguous);

/// The rows that `rank` of `ranks` holds of these sequences: an equal share of each. If a length does not divide, which
/// ranks hold one more differs from sequence to sequence. `rank` 0 of 1 holds all.
Rows rows_of(const Sequences& sequences, int rank, int ranks, Cut cut = Cut::contiguous);

/// [rows]: the sequence of each row, numbered from 0.
std::vector<std::int64_t> sequence_numbers(const Rows& rows);

/// The number of rows of the longest sequence.
std::int64_t longest(const Rows& rows);

/// The rows of the sequences with these numbers, counted in `rows` from 0; and the place of each in `rows`.
std::pair<Rows, std::vector<std::int64_t>> rows_of_sequences(const Rows& rows, std::span<const std::int64_t> sequences);

}  // namespace ut::dist
