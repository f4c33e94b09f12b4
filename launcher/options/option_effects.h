#pragma once

#include <string>
#include <vector>

#include "launcher/options/options.h"

namespace ut::launcher {

/// Throws base::BadInput if, beside the other options, an option that a person gave does nothing, or not what it says.
/// `given`: the names on the command line alone, because a settings file may serve more than one purpose.
void check_effects(const Options& options, const std::vector<std::string>& given);

}  // namespace ut::launcher
