#pragma once

#include <cstdint>
#include <exception>
#include <string>

namespace ut::launcher {

/// Prints a line for a person on standard error, after what has been printed so far. Ignores a failure to write.
void say(const std::string& message);

/// Prints text on standard output. Throws std::runtime_error, which names standard output, if it cannot be written;
/// with little text this shows only at the end of the program.
void print(const std::string& text);

/// What went wrong, in one line; libraries add lines of their own to their messages.
std::string cause_of(const std::exception& error);

/// "rank 1 on host n2, after update 120: ". `update`: -1 if none has begun.
std::string rank_and_update(std::int64_t rank, const std::string& host, std::int64_t update);

}  // namespace ut::launcher
