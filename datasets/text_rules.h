#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "datasets/unicode.h"

namespace ut::datasets {

// Building blocks of tokenisers' rules. They go from left to right, and a character is part of one match at most.

/// Puts spaces around every character for which `chosen` holds.
template <typename Chosen>
std::u32string set_apart(std::u32string_view text, Chosen chosen) {
  std::u32string result;
  for (const char32_t character : text) {
    if (!chosen(character)) {
      result += character;
      continue;
    }
    result += U' ';
    result += character;
    result += U' ';
  }
  return result;
}

/// Wherever a character for which `left` holds is followed by one for which `right` holds, writes `before`, the first,
/// a space, the second, `after`.
template <typename Left, typename Right>
std::u32string part_pairs(std::u32string_view text, Left left, Right right, std::u32string_view before,
                          std::u32string_view after) {
  std::u32string result;
  for (std::size_t place = 0; place < text.size(); ++place) {
    if (place + 1 == text.size() || !left(text[place]) || !right(text[place + 1])) {
      result += text[place];
      continue;
    }
    result += before;
    result += text[place];
    result += U' ';
    result += text[++place];
    result += after;
  }
  return result;
}

}  // namespace ut::datasets
