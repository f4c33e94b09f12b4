#pragma once

#include <cstdint>
#include <vector>

#include "core/likeliest.h"
#include "core/prefix_decoder.h"

namespace ut::core {

struct BeamOptions {
  std::int64_t width = 4;
  /// An output's log probability is divided by ((5 + length) / 6)^length_penalty, its length including the end (Wu et
  /// al. 2016, equation 14). At least 0.
  double length_penalty = 0.6;
  std::int64_t end_of_sequence = 1;
};

/// For each source the output with the best score: its log probability over the length penalty. Each round takes the
/// likeliest 2 * width extended prefixes; those that end are set aside, and the likeliest `width` of the others are
/// extended in the next round. A search ends at its limit, or when no running prefix could score more than the best
/// ended one. If none has ended by then, the likeliest prefix is the output. Of equals the one whose prefix was ahead
/// comes first, then the smaller symbol. `limits` [sources]: the most symbols of an output, its end included. `given`
/// [sources]: the symbols that each output follows; empty: none.
Likeliest search_with_beam(PrefixDecoder& decoder, const std::vector<std::int64_t>& limits, const BeamOptions& options,
                           const Outputs& given = {});

}  // namespace ut::core
