#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <memory>

#include "dist/sequence_exchange.h"

namespace ut::core {

/// The words that answers are chosen from, where they are pointed at: the candidates of the labels that are read here,
/// and where these stand.
struct Candidates {
  at::Tensor row;              // [places] int64: a row of source->all() on which a candidate stands
  at::Tensor candidate;        // [places] int64: which, as label * per_label + its number among that label's
  std::int64_t per_label = 1;  // the most that one has
};

/// This rank's share of a batch: its rows of the sequences that it and the ranks of its sequence group hold. Tensors
/// are on the device of these ranks.
struct Batch {
  std::shared_ptr<const dist::SequenceExchange> source;  // where there is an encoder, with the two below
  at::Tensor source_words;     // [source rows, words a row] int64; -1 where a row has fewer words
  at::Tensor source_position;  // [source rows] int64, random offset included

  std::shared_ptr<const dist::SequenceExchange> target;  // where there is a decoder, with the two below
  at::Tensor target_previous;                            // [target rows] int64; -1 at a sequence's first row
  at::Tensor target_position;                            // [target rows] int64, random offset included

  at::Tensor read_rows;  // [labels] int64: the rows whose state is read; undefined: every target row
  at::Tensor labels;     // [labels] int64; numbers of candidates, where answers are pointed at
  Candidates candidates;
};

}  // namespace ut::core
