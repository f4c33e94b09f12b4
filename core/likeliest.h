#pragma once

#include <cstdint>
#include <vector>

#include "dist/communicator.h"

namespace ut::core {

using Outputs = std::vector<std::vector<std::int64_t>>;  // [sequences]: symbols, without the end

/// The likeliest outputs that decoding found for some sequences, and their log probabilities, which include the end if
/// the output has reached it.
struct Likeliest {
  Outputs outputs;
  std::vector<double> log_probabilities;  // [sequences]
};

/// Gathers every rank's outputs. `mine`: this rank's, of the sequences from number `first` on; it may be empty.
/// `sequences`: how many there are in all. `longest`: the most symbols of an output. Collective.
Likeliest gather_likeliest(const Likeliest& mine, std::int64_t first, std::size_t sequences, std::int64_t longest,
                           dist::Communicator& group);

}  // namespace ut::core
