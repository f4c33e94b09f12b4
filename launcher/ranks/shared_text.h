#pragma once

#include <string>
#include <vector>

#include "dist/communicator.h"

namespace ut::launcher {

/// The text that rank `root` gives, on every rank. Collective.
std::string text_of_rank(const std::string& text, int root, dist::Communicator& world);

/// Every rank's text, in their order, on every rank. Collective.
std::vector<std::string> texts_of_ranks(const std::string& text, dist::Communicator& world);

/// The same, on rank 0 alone; on the others none. Collective.
std::vector<std::string> texts_at_first(const std::string& text, dist::Communicator& world);

}  // namespace ut::launcher
