#pragma once

#include <cstdint>
#include <vector>

#include "core/likeliest.h"
#include "core/prefix_decoder.h"

namespace ut::core {

struct BeamOptions {
  std::int64_t width = 4;
  /// What an output's score is divided by is ((5 + length) / 6)^length_penalty, its length with the end (Wu et al.
  /// 2016, equation 14). From 0 on.
  double length_penalty = 0.6;
  std::int64_t end_of_sequence = 1;
};

/// Of each source the output that scores best: the logarithm of its probability over the length penalty. In each round
/// the likeliest 2 * width prefixes go on; those of them that end are kept apart, and of the others so many as the beam
/// is wide are extended. A search ends where none of these could score more than the best that has ended; where none
/// has ended by then, the likeliest is its output. Of equals the one whose prefix was ahead comes first, then the
/// smaller symbol. `limits` [sources]: the most symbols of an output, its end included.
Likeliest search_with_beam(PrefixDecoder& decoder, const std::vector<std::int64_t>& limits, const BeamOptions& options);

}  // namespace ut::core
