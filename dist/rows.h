#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "dist/exchange_options.h"

namespace ut::dist {

/// What beside a matrix [rows, d], wherever that is, says in the host's memory which row is which. Rows stand in the
/// order of their sequences, then of their positions; there is no padding. The identity of a row is (sequence,
/// position), whatever its place in memory.
struct Rows {
  at::Tensor sequence;                // [rows] int64: the sequence's number in the update's global batch
  at::Tensor position;                // [rows] int64, from 0
  std::vector<std::int64_t> offsets;  // [sequences + 1]: the first row of each sequence
  std::shared_ptr<at::Tensor> copy = std::make_shared<at::Tensor>();  // what identities_on() has given

  std::int64_t count() const { return offsets.back(); }
  std::int64_t sequences() const { return static_cast<std::int64_t>(offsets.size()) - 1; }
  /// `sequence`, then `position` [2, rows] int64, on the one device that is ever asked for: copied there once,
  /// whichever copy of these rows is asked.
  const at::Tensor& identities_on(at::Device device) const;
};

/// The sequences that a group of ranks shares: their numbers in the global batch and their lengths.
struct Sequences {
  std::vector<std::int64_t> ids;
  std::vector<std::int64_t> lengths;
};

/// The rank that holds this position of the sequence with this id.
int owner(std::int64_t sequence, std::int64_t position, std::int64_t length, int ranks, Cut cut = Cut::contiguous);

/// The rows that `rank` of `ranks` holds of these sequences: equal shares of each; where a length does not divide,
/// which ranks hold one more differs from sequence to sequence. `rank` 0 of 1 holds all.
Rows rows_of(const Sequences& sequences, int rank, int ranks, Cut cut = Cut::contiguous);

/// Rows of a rank that are one span of each sequence.
struct Chunk {
  int number;        // spans of a sequence follow one another in this order
  Rows rows;         // lists every sequence, also where none of its positions is here
  at::Tensor index;  // [rows] int64, on the host: which of the rank's rows they are
};

/// What rows_of() gives, span by span.
std::vector<Chunk> chunks_of(const Sequences& sequences, int rank, int ranks, Cut cut);

/// [rows]: the sequence of each row, numbered from 0.
std::vector<std::int64_t> sequence_numbers(const Rows& rows);

/// The most rows that a sequence has.
std::int64_t longest(const Rows& rows);

/// Of `rows` those of the sequences with these numbers, counted in `rows` from 0; and where each stands in `rows`.
std::pair<Rows, std::vector<std::int64_t>> rows_of_sequences(const Rows& rows, std::span<const std::int64_t> sequences);

}  // namespace ut::dist
