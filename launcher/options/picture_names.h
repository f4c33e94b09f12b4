#pragma once

#include <string>
#include <vector>

namespace ut::launcher {

/// What `ut report` can draw alone.
const std::vector<std::string>& picture_names();

/// Whether the picture is of a model at work, not of what training has recorded.
bool shows_model(const std::string& picture);

}  // namespace ut::launcher
