#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

#include "core/likeliest.h"
#include "core/model.h"
#include "dist/communicator.h"

namespace ut::core {

struct Decoded {
  Likeliest found;
  at::Tensor encoder_updates;  // [rows] int64: steps that this rank's source rows took, if any
  at::Tensor decoder_updates;  // [rows] int64: and those of the positions that it decoded
};

struct DecodingOptions {
  std::int64_t longest = 0;               // symbols of an output, end of sequence included
  std::int64_t end_of_sequence = 1;       // where a sequence ends
  std::int64_t beam = 1;                  // prefixes that a search goes on with; 1: the likeliest symbol each time
  double length_penalty = 0.6;            // of a wider beam: see BeamOptions
  std::vector<std::int64_t> limits = {};  // [sequences]: the same as `longest` of each, where not all have it
  bool with_probabilities = false;        // of greedy outputs, too; else they are 0
};

/// Decodes a batch's sources symbol by symbol, until every sequence has ended or is as long as may be: greedily, the
/// most likely symbol again and again, or with a beam. Each rank of `group` decodes some of the sequences, but for
/// models that decode together. `batch` needs its source part only, and none for a decoder alone; `sequences` lists the
/// group's sequences. The outputs are the same on every rank of `group`. Collective.
Decoded decode(const Model& model, const Batch& batch, const dist::Sequences& sequences, const Steps& steps,
               const DecodingOptions& options, dist::Communicator& group);

}  // namespace ut::core
