#pragma once

#include <cstdint>
#include <exception>
#include <string>

namespace ut::launcher {

/// A line for a person on standard error, after what has been printed so far. Where that cannot be written, none.
void say(const std::string& message);

/// Text for standard output. Throws std::runtime_error, which names that, where it cannot be written; of little text
/// this shows at the end of the program.
void print(const std::string& text);

/// What went wrong, in one line: libraries add lines of their own to theirs.
std::string cause_of(const std::exception& error);

/// "rank 1 on host n2, after update 120: "; `update`: -1 where none has begun.
std::string rank_and_update(std::int64_t rank, const std::string& host, std::int64_t update);

}  // namespace ut::launcher
