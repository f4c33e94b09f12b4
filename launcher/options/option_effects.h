#pragma once

#include <string>
#include <vector>

#include "launcher/options/options.h"

namespace ut::launcher {

/// Throws base::BadInput where one of the options that a person has given does nothing, or not what it says, as the
/// others are: she would believe that it did. `given`: names, of the command line alone; a settings file may serve more
/// than one purpose.
void check_effects(const Options& options, const std::vector<std::string>& given);

}  // namespace ut::launcher
