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
  at::Tensor encoder_updates;  // [rows] int64: steps that this rank's source rows took; may be empty
  at::Tensor decoder_updates;  // [rows] int64: steps of the positions that it decoded; may be empty
};

struct DecodingOptions {
  std::int64_t longest = 0;               // the most symbols of an output, end of sequence included
  std::int64_t end_of_sequence = 1;       // the symbol that ends an output
  std::int64_t beam = 1;                  // the beam's width; 1: greedy, the likeliest symbol each time
  double length_penalty = 0.6;            // for a beam wider than 1: see BeamOptions
  std::vector<std::int64_t> limits = {};  // [sequences]: each one's own `longest`; empty: the same for all
  bool with_probabilities = false;        // also of greedy outputs; else theirs are 0
  Outputs given = {};                     // [sequences]: symbols that each output follows; empty: none
};

/// Decodes a batch's sources symbol by symbol, until every output has ended or reached its limit: greedily, with the
/// likeliest symbol each time, or with a beam. Each rank of `group` decodes some of the sequences, unless
/// Model::decodes_together(). `batch` needs only its source part, and nothing for Architecture::decoder. `sequences`
/// lists the group's sequences. Every rank of `group` gets all outputs. Collective.
Decoded decode(const Model& model, const Batch& batch, const dist::Sequences& sequences, const Steps& steps,
               const DecodingOptions& options, dist::Communicator& group);

}  // namespace ut::core
