#pragma once

#include <ATen/core/Tensor.h>

#include <string>
#include <vector>

#include "dist/communicator.h"

namespace ut::launcher {

/// Every rank's `mine` on every rank: [ranks, values], in the host's memory. `mine`: [values], of the same type and
/// number on each rank. Collective.
at::Tensor numbers_of_ranks(const at::Tensor& mine, dist::Communicator& world);

/// The text that rank `root` gives, on every rank. Collective.
std::string text_of_rank(const std::string& text, int root, dist::Communicator& world);

/// Every rank's text, in rank order, on every rank. Collective.
std::vector<std::string> texts_of_ranks(const std::string& text, dist::Communicator& world);

/// The same, but on rank 0 alone; the others get none. Sends as many messages as needed, each of at most
/// `letters_in_message` letters over all ranks, because MPI counts no more than 2^31. Collective.
std::vector<std::string> texts_at_first(const std::string& text, dist::Communicator& world,
                                        std::int64_t letters_in_message = std::int64_t{1} << 30);

}  // namespace ut::launcher
