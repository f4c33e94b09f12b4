#pragma once

#include <array>
#include <cstdint>

#include "base/philox.h"

namespace ut::core {

/// A row's columns come in blocks of 64. 8 calls of Philox, the lanes, decide a block. Their counters are ((head <<
/// call_bits) + 8 * block + lane, rest). Word w of lane l holds two 16-bit numbers: the lower half for column 8 w + l
/// of the block, the upper half for column 32 + 8 w + l.
constexpr std::uint32_t lanes_of_block = 8;
constexpr std::uint32_t words_of_lane = 4;
constexpr std::uint32_t columns_of_block = 2 * words_of_lane * lanes_of_block;
constexpr int call_bits = 24;  // of the first counter's 32
constexpr int head_bits = 8;   // the others: more heads would draw one another's numbers

/// Decides which columns of a row dropout keeps. constexpr, so that it is compiled for devices too.
struct DropoutDraw {
  std::uint32_t head;
  std::array<std::uint32_t, 3> rest;  // position, sequence and place
  std::uint64_t key;
  std::uint32_t dropped_below;  // 16-bit numbers below this drop their column

  /// The draw of this row, at the same place and rate.
  constexpr DropoutDraw of_row(std::int64_t sequence, std::int64_t position, std::uint32_t of_head = 0) const {
    return {of_head,
            {static_cast<std::uint32_t>(position), static_cast<std::uint32_t>(sequence), rest[2]},
            key,
            dropped_below};
  }

  /// Calls visit(column, whether it is kept) for each of the 8 columns that call number 8 * block + lane decides.
  template <class Visit>
  constexpr void decide(std::uint32_t call, const Visit& visit) const {
    const auto words = dropped_below == 0 ? std::array<std::uint32_t, words_of_lane>{}  // all are kept
                                          : base::philox({(head << call_bits) + call, rest[0], rest[1], rest[2]}, key);
    const std::uint32_t first = call / lanes_of_block * columns_of_block + call % lanes_of_block;
    for (std::uint32_t half = 0; half < 2; ++half)
      for (std::uint32_t word = 0; word < words_of_lane; ++word)
        visit(first + (half * words_of_lane + word) * lanes_of_block,
              (words[word] >> (16 * half) & 0xFFFF) >= dropped_below);
  }
};

}  // namespace ut::core
