#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <memory>

#include "dist/sequence_exchange.h"

namespace ut::core {

/// This rank's share of a batch: its rows of the sequences that it and the ranks of its sequence group hold. Tensors
/// are on the device of these ranks.
struct Batch {
  std::shared_ptr<const dist::SequenceExchange> source;
  at::Tensor source_words;     // [source rows, words a row] int64; -1 where a row has fewer words
  at::Tensor source_position;  // [source rows] int64, random offset included

  std::shared_ptr<const dist::SequenceExchange> target;  // encoder-decoder only, with the three below
  at::Tensor target_previous;                            // [target rows] int64; -1 at a sequence's first row
  at::Tensor target_position;                            // [target rows] int64, random offset included

  at::Tensor read_rows;  // [labels] int64: the rows whose state is read; undefined: every target row
  at::Tensor labels;     // [labels] int64
};

}  // namespace ut::core
