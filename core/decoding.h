#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

#include "core/model.h"
#include "dist/communicator.h"

namespace ut::core {

struct Decoded {
  std::vector<std::vector<std::int64_t>> outputs;  // [sequences]: symbols, without the end
  at::Tensor encoder_updates;                      // [rows] int64: steps that this rank's source rows took, if any
  at::Tensor decoder_updates;                      // [rows] int64: and those of the positions that it decoded
};

struct DecodingOptions {
  std::int64_t longest = 0;          // symbols, end of sequence included
  std::int64_t end_of_sequence = 1;  // where a sequence ends
};

/// Greedy decoding of a batch's sources: the most likely next symbol again and again, until every sequence has ended or
/// is as long as may be. Each rank of `group` decodes some of the sequences, one position at a time, with what earlier
/// positions left in a cache at each step; where halting goes by the mean over a sequence, all ranks go over all
/// positions again for each symbol. `batch` needs its source part only, and none for a decoder alone; `sequences` lists
/// the group's sequences. The outputs are the same on every rank of `group`. Collective.
Decoded decode_greedily(const UniversalTransformer& model, const Batch& batch, const dist::Sequences& sequences,
                        const Steps& steps, const DecodingOptions& options, dist::Communicator& group);

}  // namespace ut::core
