#pragma once

#include <cstddef>
#include <string>

namespace ut::base {

/// XXH3 128-bit digest as 32 hexadecimal digits.
std::string digest(const void* bytes, std::size_t size);

}  // namespace ut::base
