#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "base/span.h"
#include "core/batch.h"
#include "datasets/batch.h"
#include "dist/mesh.h"
#include "dist/rows.h"

namespace ut::launcher {

/// Random offsets of positions, one per sequence and update; none if `largest` is 0.
struct RandomOffset {
  std::int64_t largest = 0;
  std::uint64_t seed = 0;
  std::int64_t update = 0;
};

/// One rank's part of a batch.
struct RankBatch {
  core::Batch rows;
  std::size_t first_example = 0;            // index in the batch of this data group's first example
  std::vector<datasets::Example> examples;  // this data group's
  std::vector<std::int64_t> numbers;        // of each example in its split
  dist::Sequences sources;                  // of these examples in the encoder; length 0 without sources

  /// The rows whose states are read, all or some of them: the decoder's if there is one, otherwise the encoder's.
  const dist::Rows& read_from() const { return (rows.target ? rows.target : rows.source)->local(); }
  /// [labels] int64: the sequence of each label, counted from 0 in this data group.
  std::vector<std::int64_t> sequences_of_labels() const;
};

/// The first row of the source with the word that answers point at by the number `candidate`.
std::int64_t pointed_row(const datasets::Example& example, std::int64_t candidate);

/// Part number `part` of the examples, cut into `parts` spans of about as many rows each, source and target together.
/// No span has more rows than its share and the longest example together; a span may be empty.
base::Span share_by_rows(std::span<const datasets::ExampleSize> examples, int part, int parts);

/// Makes the example of this number in its split.
using MakeExample = std::function<datasets::Example(std::int64_t)>;

/// Cuts this rank's rows out of `examples`: its data group's share of the sequences, about as many rows for each group,
/// and its own share of each sequence's positions. Makes no other examples. `first_id`: the first example's number in
/// the update's global batch; a row's identity comes from that number, not from where the row lands. Exchanges use the
/// mesh, which must outlive them. The cut of `exchange` is that of the targets.
RankBatch rank_batch(std::span<const datasets::ExampleSize> examples, const MakeExample& make, std::int64_t first_id,
                     const dist::Mesh& mesh, const dist::ExchangeOptions& exchange, const RandomOffset& offset = {});
/// The same for examples that are already made, numbered in their order.
RankBatch rank_batch(std::span<const datasets::Example> examples, std::int64_t first_id, const dist::Mesh& mesh,
                     const dist::ExchangeOptions& exchange);

}  // namespace ut::launcher
