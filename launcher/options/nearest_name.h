#pragma once

#include <string>
#include <vector>

namespace ut::launcher {

/// "; did you mean PREFIXname?" if one of the names is near to `given`, otherwise nothing.
std::string suggestion(const std::string& given, const std::vector<std::string>& names, const std::string& prefix);

}  // namespace ut::launcher
