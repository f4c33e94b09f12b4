#pragma once

#include <string>

#include "dist/communicator.h"

namespace ut::launcher {

/// The text that rank `root` gives, on every rank. Collective.
std::string text_of_rank(const std::string& text, int root, dist::Communicator& world);

}  // namespace ut::launcher
