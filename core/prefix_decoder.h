#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

#include "base/span.h"
#include "dist/communicator.h"
#include "dist/rows.h"

namespace ut::core {

/// Which of a batch's sequences this rank decodes, and with how many prefixes of outputs for each.
struct DecodingShare {
  const dist::Sequences& sequences;  // that the ranks of the group share
  base::Span mine;                   // numbers of those that this rank decodes
  std::int64_t width;                // the most prefixes of a sequence at once
  dist::Communicator& group;
};

/// Outputs so far, all of one length, to be extended by one symbol. The decoder keeps what it knows of each under the
/// prefix's place. Sequence n of the share has the places from width * n to width * n + width - 1.
struct Prefixes {
  std::int64_t length = 0;           // symbols
  std::vector<std::int64_t> place;   // ascending
  std::vector<std::int64_t> parent;  // the place that each had when it was one symbol shorter
  std::vector<std::int64_t> last;    // each one's last symbol; -1 if it is empty
};

/// A model that has read sources and makes their outputs symbol by symbol.
class PrefixDecoder {
 public:
  virtual ~PrefixDecoder() = default;

  /// The scores of every symbol as the next one of each prefix: [prefixes, vocabulary]. No prefix may be given twice.
  /// Collective if Model::decodes_together().
  virtual at::Tensor next(const Prefixes& prefixes) = 0;

  /// Steps taken by this rank's source rows, and by the positions that it decoded: [rows] int64; empty if the model
  /// takes no steps.
  virtual at::Tensor encoder_updates() const = 0;
  virtual at::Tensor decoder_updates() const = 0;
};

}  // namespace ut::core
