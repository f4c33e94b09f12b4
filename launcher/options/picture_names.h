#pragma once

#include <string>
#include <vector>

namespace ut::launcher {

/// The pictures that `ut report` can draw alone.
const std::vector<std::string>& picture_names();

/// Whether the picture shows a model at work, not what training has recorded.
bool shows_model(const std::string& picture);

}  // namespace ut::launcher
