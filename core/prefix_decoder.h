#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

#include "base/span.h"
#include "dist/communicator.h"
#include "dist/rows.h"

namespace ut::core {

/// Which of a batch's sequences are decoded here, and with how many prefixes of outputs for each.
struct DecodingShare {
  const dist::Sequences& sequences;  // that the ranks of the group share
  base::Span mine;                   // numbers of those that are decoded here
  std::int64_t width;                // prefixes of a sequence at once
  dist::Communicator& group;
};

/// Outputs as far as they are known, all of one length, which want one more symbol. Each has a place of its own, where
/// the decoder keeps what it knows of it: those of sequence n (of the share's) are width * n and those after it.
struct Prefixes {
  std::int64_t length = 0;           // symbols
  std::vector<std::int64_t> place;   // ascending
  std::vector<std::int64_t> parent;  // the place where each stood when it was a symbol shorter
  std::vector<std::int64_t> last;    // its last symbol; -1 where it has none
};

/// A model that makes outputs symbol by symbol, of sources that it has read.
class PrefixDecoder {
 public:
  virtual ~PrefixDecoder() = default;

  /// The scores of every symbol after each of the prefixes, none of which is given twice [prefixes, vocabulary].
  /// Collective where Model::decodes_together().
  virtual at::Tensor next(const Prefixes& prefixes) = 0;

  /// Steps that this rank's source rows took, and the positions that it decoded [rows] int64; empty where the model
  /// takes no steps.
  virtual at::Tensor encoder_updates() const = 0;
  virtual at::Tensor decoder_updates() const = 0;
};

}  // namespace ut::core
