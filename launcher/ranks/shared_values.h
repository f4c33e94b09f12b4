#pragma once

#include <ATen/core/Tensor.h>

#include <string>
#include <vector>

#include "dist/communicator.h"

namespace ut::launcher {

/// Every rank's numbers `mine`, [values] of the same type and number on each, on every rank: [ranks, values], in the
/// host's memory. Collective.
at::Tensor numbers_of_ranks(const at::Tensor& mine, dist::Communicator& world);

/// The text that rank `root` gives, on every rank. Collective.
std::string text_of_rank(const std::string& text, int root, dist::Communicator& world);

/// Every rank's text, in their order, on every rank. Collective.
std::vector<std::string> texts_of_ranks(const std::string& text, dist::Communicator& world);

/// The same, on rank 0 alone; on the others none. It takes as many messages, each of so many letters over all ranks, as
/// they need: MPI counts no more than 2^31. Collective.
std::vector<std::string> texts_at_first(const std::string& text, dist::Communicator& world,
                                        std::int64_t letters_in_message = std::int64_t{1} << 30);

}  // namespace ut::launcher
