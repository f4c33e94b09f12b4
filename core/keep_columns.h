#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace ut::core {

/// What decides which columns of a row dropout keeps.
struct RowDraw {
  std::uint32_t head;
  std::array<std::uint32_t, 3> rest;  // position, sequence and place
  std::uint64_t key;
  std::uint32_t dropped_below;  // of 65536 random numbers those that drop a column
};

enum class Instructions { plain, avx2, avx512f };
/// Of those that this processor has.
Instructions best_instructions();

/// Columns come in blocks of 64, which 8 calls of Philox decide, with counters (head << 24) + 8 * block + lane, rest:
/// word w of lane l has the numbers of columns 8 w + l, its lower half, and 32 + 8 w + l, its upper half. A column
/// whose number is below `dropped_below` becomes zero; the others are multiplied by `scale`. `from` are the columns
/// from `first` on; so many are written to `to`.
/// `to` may be `from`. The same bits with all instructions.
void keep_columns(const RowDraw& row, std::size_t first, std::span<const float> from, float scale, float* to,
                  Instructions instructions = best_instructions());
void keep_columns(const RowDraw& row, std::size_t first, std::span<const double> from, double scale, double* to);

}  // namespace ut::core
