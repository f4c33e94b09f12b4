#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace ut::dist {

/// What beside a matrix [rows, d] says which row is which. Rows stand in the order of their sequences, then of their
/// positions; there is no padding. The identity of a row is (sequence, position), whatever its place in memory.
struct Rows {
  at::Tensor sequence;                // [rows] int64: the sequence's number in the update's global batch
  at::Tensor position;                // [rows] int64, from 0
  std::vector<std::int64_t> offsets;  // [sequences + 1]: the first row of each sequence

  std::int64_t count() const { return offsets.back(); }
  std::int64_t sequences() const { return static_cast<std::int64_t>(offsets.size()) - 1; }
};

/// The sequences that a group of ranks shares: their numbers in the global batch and their lengths.
struct Sequences {
  std::vector<std::int64_t> ids;
  std::vector<std::int64_t> lengths;
};

/// A sequence's positions begin, …, end - 1 of one rank.
struct Span {
  std::int64_t begin = 0;
  std::int64_t end = 0;
};

/// The contiguous share of a sequence of this length that `rank` of `ranks` holds: as even as can be, and empty for
/// some ranks where the sequence is shorter than there are ranks.
Span share(std::int64_t length, int rank, int ranks);
/// The rank whose share holds this position.
int owner(std::int64_t position, std::int64_t length, int ranks);

/// The rows that `rank` of `ranks` holds of these sequences. `rank` 0 of 1 holds all.
Rows rows_of(const Sequences& sequences, int rank, int ranks);

/// The most rows that a sequence has.
std::int64_t longest(const Rows& rows);

/// Of `rows` those of the sequences with these numbers, counted in `rows` from 0; and where each stands in `rows`.
std::pair<Rows, std::vector<std::int64_t>> rows_of_sequences(const Rows& rows, std::span<const std::int64_t> sequences);

}  // namespace ut::dist
