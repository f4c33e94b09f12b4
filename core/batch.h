#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <memory>

#include "dist/sequence_exchange.h"

namespace ut::core {

/// For models that answer by pointing at a word (core/pointing.h): the candidates of the labels read on this rank, and
/// all places where they stand.
struct Candidates {
  at::Tensor row_of_place;        // [places] int64: the row of source->all() that is this place
  at::Tensor candidate_of_place;  // [places] int64: label * per_label + the candidate's number among the label's
  std::int64_t per_label = 1;     // the most candidates that a label has
};

/// This rank's share of a batch: its rows of the sequences that its sequence-parallel group shares. Tensors are on the
/// rank's device.
struct Batch {
  std::shared_ptr<const dist::SequenceExchange> source;  // only for a model with an encoder, as are the two below
  at::Tensor source_words;     // [source rows, words per row] int64; -1 where a row has fewer words
  at::Tensor source_position;  // [source rows] int64, random offset included

  std::shared_ptr<const dist::SequenceExchange> target;  // only for a model with a decoder, as are the two below
  at::Tensor target_previous;                            // [target rows] int64; -1 at a sequence's first row
  at::Tensor target_position;                            // [target rows] int64, random offset included

  at::Tensor read_rows;  // [labels] int64: the rows whose state is read; undefined: every target row
  at::Tensor labels;     // [labels] int64: right answers, as symbols or, for models that point, numbers of candidates
  Candidates candidates;
};

}  // namespace ut::core
