#pragma once

#include <cstdint>
#include <vector>

#include "dist/communicator.h"

namespace ut::core {

using Outputs = std::vector<std::vector<std::int64_t>>;  // [sequences]: symbols, without the end

/// What decoding found likeliest for some sequences, and the logarithm of its probability, that of the end included
/// where it came to one.
struct Likeliest {
  Outputs outputs;
  std::vector<double> log_probabilities;  // [sequences]
};

/// Of all `sequences`, of which this rank has found `mine`, those from number `first` on, of at most `longest` symbols;
/// a rank that has found none gives none. Collective.
Likeliest gather_likeliest(const Likeliest& mine, std::int64_t first, std::size_t sequences, std::int64_t longest,
                           dist::Communicator& group);

}  // namespace ut::core
