#include "core/kernels/keep_columns.h"

#include <immintrin.h>

#include <algorithm>
#include <array>

namespace ut::core {
namespace {

constexpr std::size_t words = words_of_lane;
constexpr std::size_t block = columns_of_block;
namespace philox = base::philox4x32;

// Dropout of all columns of a block of columns. `call` is the block's first call of Philox.

void keep_block_plainly(const DropoutDraw& row, std::uint32_t call, float scale, const float* from, float* to) {
  const std::uint32_t first = call / lanes_of_block * columns_of_block;
  for (std::uint32_t lane = 0; lane < lanes_of_block; ++lane)
    row.decide(call + lane, [&](std::uint32_t column, bool is_kept) {
      to[column - first] = is_kept ? scale * from[column - first] : 0;
    });
}

// GCC 12 warns of undefined operands that its own header uses on purpose.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wuninitialized"

/// Eight counters at a time, each in the lower half of 64 bits. What gets into the upper halves is never used.
__attribute__((target("avx512f"))) void keep_block_avx512(const DropoutDraw& row, std::uint32_t call, float scale,
                                                          const float* from, float* to) {
  __m512i c0 =
      _mm512_add_epi64(_mm512_set1_epi64((row.head << call_bits) + call), _mm512_set_epi64(7, 6, 5, 4, 3, 2, 1, 0));
  __m512i c1 = _mm512_set1_epi64(row.rest[0]);
  __m512i c2 = _mm512_set1_epi64(row.rest[1]);
  __m512i c3 = _mm512_set1_epi64(row.rest[2]);
  const __m512i m0 = _mm512_set1_epi64(philox::multiplier_0);
  const __m512i m2 = _mm512_set1_epi64(philox::multiplier_2);
  auto low = static_cast<std::uint32_t>(row.key);
  auto high = static_cast<std::uint32_t>(row.key >> 32);
  constexpr int exclusive_or = 0x96;  // the truth table of an exclusive or of three operands
  for (int round = 0; round < philox::rounds; ++round, low += philox::key_step_low, high += philox::key_step_high) {
    const __m512i p0 = _mm512_mul_epu32(c0, m0);
    const __m512i p2 = _mm512_mul_epu32(c2, m2);
    c0 = _mm512_ternarylogic_epi64(_mm512_srli_epi64(p2, 32), c1, _mm512_set1_epi64(low), exclusive_or);
    c1 = p2;
    c2 = _mm512_ternarylogic_epi64(_mm512_srli_epi64(p0, 32), c3, _mm512_set1_epi64(high), exclusive_or);
    c3 = p0;
  }
  const __m512i below = _mm512_set1_epi64(row.dropped_below);
  const __m512i half_of_word = _mm512_set1_epi64(0xFFFF);
  const __m512 scales = _mm512_set1_ps(scale);
  const auto is_kept = [&](__m512i number) __attribute__((target("avx512f"))) {
    return static_cast<unsigned>(_mm512_cmpge_epu64_mask(_mm512_and_si512(number, half_of_word), below));
  };
  const auto keep = [&](std::size_t column, __m512i left, __m512i right) __attribute__((target("avx512f"))) {
    const auto kept = static_cast<__mmask16>(is_kept(left) | is_kept(right) << 8);
    _mm512_storeu_ps(to + column, _mm512_maskz_mul_ps(kept, scales, _mm512_loadu_ps(from + column)));
  };
  keep(0, c0, c1);
  keep(16, c2, c3);
  keep(32, _mm512_srli_epi64(c0, 16), _mm512_srli_epi64(c1, 16));
  keep(48, _mm512_srli_epi64(c2, 16), _mm512_srli_epi64(c3, 16));
}

#pragma GCC diagnostic pop

/// The same, four counters at a time.
__attribute__((target("avx2"))) void keep_block_avx2(const DropoutDraw& row, std::uint32_t call, float scale,
                                                     const float* from, float* to) {
  const __m256i m0 = _mm256_set1_epi64x(philox::multiplier_0);
  const __m256i m2 = _mm256_set1_epi64x(philox::multiplier_2);
  __m256i made[words][2];
  for (std::size_t half = 0; half < 2; ++half) {
    __m256i c0 =
        _mm256_add_epi64(_mm256_set1_epi64x((row.head << call_bits) + call + 4 * static_cast<std::uint32_t>(half)),
                         _mm256_set_epi64x(3, 2, 1, 0));
    __m256i c1 = _mm256_set1_epi64x(row.rest[0]);
    __m256i c2 = _mm256_set1_epi64x(row.rest[1]);
    __m256i c3 = _mm256_set1_epi64x(row.rest[2]);
    auto low = static_cast<std::uint32_t>(row.key);
    auto high = static_cast<std::uint32_t>(row.key >> 32);
    for (int round = 0; round < philox::rounds; ++round, low += philox::key_step_low, high += philox::key_step_high) {
      const __m256i p0 = _mm256_mul_epu32(c0, m0);
      const __m256i p2 = _mm256_mul_epu32(c2, m2);
      c0 = _mm256_xor_si256(_mm256_xor_si256(_mm256_srli_epi64(p2, 32), c1), _mm256_set1_epi64x(low));
      c1 = p2;
      c2 = _mm256_xor_si256(_mm256_xor_si256(_mm256_srli_epi64(p0, 32), c3), _mm256_set1_epi64x(high));
      c3 = p0;
    }
    made[0][half] = c0;
    made[1][half] = c1;
    made[2][half] = c2;
    made[3][half] = c3;
  }
  // The lower halves of eight words side by side: [0 1 4 5 | 2 3 6 7], then in order.
  const __m256i below = _mm256_set1_epi32(static_cast<int>(row.dropped_below));
  const __m256 scales = _mm256_set1_ps(scale);
  for (std::size_t word = 0; word < words; ++word) {
    const __m256i mixed = _mm256_castps_si256(
        _mm256_shuffle_ps(_mm256_castsi256_ps(made[word][0]), _mm256_castsi256_ps(made[word][1]), 0x88));
    const __m256i drawn = _mm256_permute4x64_epi64(mixed, 0xD8);
    const __m256i numbers[2] = {_mm256_and_si256(drawn, _mm256_set1_epi32(0xFFFF)), _mm256_srli_epi32(drawn, 16)};
    for (std::size_t half = 0; half < 2; ++half) {
      const std::size_t column = (half * words + word) * lanes_of_block;
      const __m256 dropped = _mm256_castsi256_ps(_mm256_cmpgt_epi32(below, numbers[half]));
      const __m256 scaled = _mm256_mul_ps(scales, _mm256_loadu_ps(from + column));
      _mm256_storeu_ps(to + column, _mm256_andnot_ps(dropped, scaled));
    }
  }
}

auto keep_block_for(Instructions instructions) {
  if (instructions == Instructions::avx512f) return keep_block_avx512;
  return instructions == Instructions::avx2 ? keep_block_avx2 : keep_block_plainly;
}

constexpr auto ones = [] {
  std::array<float, block> all{};
  all.fill(1);
  return all;
}();

}  // namespace

void keep_columns(const DropoutDraw& row, std::size_t first, std::span<const float> from, float scale, float* to,
                  Instructions instructions) {
  const auto keep_block = keep_block_for(instructions);
  std::array<float, block> part;
  for (std::size_t column = first; !from.empty();) {
    const std::size_t before = column % block;  // columns of the block before the first wanted one
    const std::size_t count = std::min(block - before, from.size());
    const auto call = static_cast<std::uint32_t>(column / block * lanes_of_block);
    if (count == block) {
      keep_block(row, call, scale, from.data(), to);
    } else {
      part.fill(0);
      std::ranges::copy(from.first(count), part.begin() + before);
      keep_block(row, call, scale, part.data(), part.data());
      std::copy_n(part.begin() + before, count, to);
    }
    column += count;
    to += count;
    from = from.subspan(count);
  }
}

void keep_columns(const DropoutDraw& row, std::size_t first, std::span<const double> from, double scale, double* to,
                  Instructions instructions) {
  std::array<float, block> kept;
  for (std::size_t done = 0; done < from.size();) {
    const std::size_t count = std::min(block - (first + done) % block, from.size() - done);
    keep_columns(row, first + done, std::span(ones).first(count), 1, kept.data(), instructions);
    for (std::size_t column = 0; column < count; ++column, ++done)
      to[done] = kept[column] == 0 ? 0 : scale * from[done];
  }
}

}  // namespace ut::core
