#pragma once

#include <cstdint>
#include <exception>
#include <string>

namespace ut::launcher {

/// A line for a person on standard error, after what has been printed so far. Where that cannot be written, none.
void say(const std::string& message);

/// What went wrong, in one line: libraries add lines of their own to theirs.
std::string cause_of(const std::exception& error);

/// "rank 1 on host n2, after update 120: "; `update`: -1 where none has begun.
std::string rank_and_update(std::int64_t rank, const std::string& host, std::int64_t update);

}  // namespace ut::launcher
