#pragma once

#include <exception>
#include <string>

namespace ut::launcher {

/// A line for a person on standard error, after what has been printed so far. Where that cannot be written, none.
void say(const std::string& message);

/// What went wrong, in one line: libraries add lines of their own to theirs.
std::string cause_of(const std::exception& error);

}  // namespace ut::launcher
