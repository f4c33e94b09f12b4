#pragma once

#include <cstdint>
#include <vector>

#include "core/model.h"
#include "dist/communicator.h"

namespace ut::core {

struct DecodingOptions {
  std::int64_t longest = 0;          // symbols, end of sequence included
  std::int64_t end_of_sequence = 1;  // where a sequence ends
};

/// Greedy decoding of a batch's sources: the most likely next symbol again and again, until every sequence of the
/// group has ended or is as long as may be. `batch` needs its source part only; `sequences` lists the group's
/// sequences. Returns the symbols of each, without the end; the same on every rank of `group`. Collective.
std::vector<std::vector<std::int64_t>> decode_greedily(const UniversalTransformer& model, const Batch& batch,
                                                       const dist::Sequences& sequences, const Steps& steps,
                                                       const DecodingOptions& options, dist::Communicator& group);

}  // namespace ut::core
