#pragma once

#include <string>

namespace ut::launcher {

/// A line for a person on standard error, after what has been printed so far. Where that cannot be written, none.
void say(const std::string& message);

}  // namespace ut::launcher
