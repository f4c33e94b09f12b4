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

/// Random offsets of positions, one a sequence and update; none where `largest` is 0.
struct RandomOffset {
  std::int64_t largest = 0;
  std::uint64_t seed = 0;
  std::int64_t update = 0;
};

/// What one rank does of a batch.
struct RankBatch {
  core::Batch rows;
  std::size_t first_example = 0;            // the place in the batch of the first of this data group's examples
  std::vector<datasets::Example> examples;  // this data group's
  std::vector<std::int64_t> numbers;        // of each in its split
  dist::Sequences sources;                  // their sequences in the encoder; of no length where there is none

  /// The rows whose states are read, or some of them: the decoder's, where there is one.
  const dist::Rows& read_from() const { return (rows.target ? rows.target : rows.source)->local(); }
  /// [labels] int64: which sequence's each label is, counted from 0 in this data group.
  std::vector<std::int64_t> sequences_of_labels() const;
};

/// The first row of the source that has the word that answers point at by the number `candidate`.
std::int64_t pointed_row(const datasets::Example& example, std::int64_t candidate);

/// Part number `part` of the examples in `parts` spans of about as many rows each, source and target together: none has
/// more than its share and the longest example; one may have none.
base::Span share_by_rows(std::span<const datasets::ExampleSize> examples, int part, int parts);

/// The example of this number in its split.
using MakeExample = std::function<datasets::Example(std::int64_t)>;

/// Cuts this rank's rows out of `examples`: its data group's share of the sequences, each group having about as many
/// rows, and its own share of each sequence's positions. No other examples are made. `first_id` is the first one's
/// number in the update's global batch: a row's identity is that, not where it lands. Exchanges use the mesh, which
/// must outlive them; the cut of `exchange` is that of the targets.
RankBatch rank_batch(std::span<const datasets::ExampleSize> examples, const MakeExample& make, std::int64_t first_id,
                     const dist::Mesh& mesh, const dist::ExchangeOptions& exchange, const RandomOffset& offset = {});
/// The same of examples that are there, numbered as they stand.
RankBatch rank_batch(std::span<const datasets::Example> examples, std::int64_t first_id, const dist::Mesh& mesh,
                     const dist::ExchangeOptions& exchange);

}  // namespace ut::launcher
