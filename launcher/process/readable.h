#pragma once

#include <string>
#include <string_view>

namespace ut::launcher {

// Numbers for a person: three significant digits, never an exponent.

/// With the prefix that fits: readable(1.34e9, "B") is "1.34 GB", readable(0.00442, "s") "4.42 ms".
std::string readable(double amount, std::string_view unit);

/// 42, 12.3k, 1.50M: a count, or a count per second.
std::string readable_count(double count);

/// "4.42 ms", "75.3 s", "1260 s".
std::string readable_seconds(double seconds);

}  // namespace ut::launcher
