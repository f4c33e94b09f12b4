#include "core/kernels/tile_product.h"

#include <algorithm>

#include "core/kernels/row_kernels.h"

// Templates that are compiled into functions for several sets of instructions.
namespace ut::core {
namespace {

constexpr std::int64_t lanes_at_most = 16;            // of a vector
constexpr std::int64_t copy_capacity = 8192;          // numbers on the stack, for a copy of b in another layout
constexpr std::int64_t max_multiplications = 524288;  // of two numbers

std::int64_t in_whole_vectors(std::int64_t columns) {
  return (columns + lanes_at_most - 1) / lanes_at_most * lanes_at_most;
}

/// Factor a, which a tile reads number by number: the distances to the next row and to the next inner index.
struct Left {
  const float* data;
  std::int64_t to_next_row;
  std::int64_t to_next_inner;

  Left from(std::int64_t row) const { return {data + row * to_next_row, to_next_row, to_next_inner}; }
};

/// What all tiles of a product have in common.
struct Product {
  std::int64_t inner;
  float scale;
  float kept;
};

template <int bytes>
struct Vector {
  using Type __attribute__((vector_size(bytes))) = float;
  using Unaligned __attribute__((vector_size(bytes), aligned(alignof(float)), may_alias)) = float;  // in memory
  static constexpr std::int64_t lanes = bytes / sizeof(float);
};

/// A tile of c: `rows` rows of `vectors` vectors. Of the last vector only `of_last` columns are in c; in b it is whole.
template <int bytes, int rows, int vectors>
[[gnu::always_inline]] inline void multiply_tile(const Product& product, const Left& a,
                                                 const MatrixRows<const float>& b, const MatrixRows<float>& c,
                                                 std::int64_t of_last) {
  using Wide = typename Vector<bytes>::Type;
  using Unaligned = typename Vector<bytes>::Unaligned;
  constexpr std::int64_t lanes = Vector<bytes>::lanes;
  Wide sums[rows][vectors] = {};
  for (std::int64_t index = 0; index < product.inner; ++index) {
    Wide of_b[vectors];
#pragma GCC unroll 16
    for (int vector = 0; vector < vectors; ++vector)
      of_b[vector] = *reinterpret_cast<const Unaligned*>(b.row(index) + vector * lanes);
#pragma GCC unroll 16
    for (int row = 0; row < rows; ++row) {
      const float of_a = a.data[row * a.to_next_row + index * a.to_next_inner];
#pragma GCC unroll 16
      for (int vector = 0; vector < vectors; ++vector) sums[row][vector] += of_b[vector] * of_a;
    }
  }
#pragma GCC unroll 16
  for (int row = 0; row < rows; ++row) {
#pragma GCC unroll 16
    for (int vector = 0; vector < vectors; ++vector) {
      float* to = c.row(row) + vector * lanes;
      Wide made = sums[row][vector] * product.scale;
      if (vector + 1 < vectors || of_last == lanes) {
        if (product.kept != 0) made += *reinterpret_cast<const Unaligned*>(to) * product.kept;
        *reinterpret_cast<Unaligned*>(to) = made;
      } else {
        for (std::int64_t lane = 0; lane < of_last; ++lane)
          to[lane] = product.kept == 0 ? made[lane] : made[lane] + to[lane] * product.kept;
      }
    }
  }
}

/// All rows: `at_once` of them at a time, and the rest half as many at a time, and so on.
template <int bytes, int vectors, int at_once>
[[gnu::always_inline]] inline void multiply_rows(const Product& product, std::int64_t rows, const Left& a,
                                                 const MatrixRows<const float>& b, const MatrixRows<float>& c,
                                                 std::int64_t of_last) {
  std::int64_t done = 0;
  for (; done + at_once <= rows; done += at_once)
    multiply_tile<bytes, at_once, vectors>(product, a.from(done), b, c.from(done), of_last);
  if constexpr (at_once > 1)
    if (done < rows)
      multiply_rows<bytes, vectors, at_once / 2>(product, rows - done, a.from(done), b, c.from(done), of_last);
}

/// All columns, up to `max_vectors` vectors of them at a time; the rows of b are whole vectors.
template <int bytes, int at_once, std::int64_t max_vectors>
[[gnu::always_inline]] inline void multiply_all(const Product& product, std::int64_t rows, std::int64_t columns,
                                                const Left& a, const MatrixRows<const float>& b,
                                                const MatrixRows<float>& c) {
  constexpr std::int64_t lanes = Vector<bytes>::lanes;
  for (std::int64_t first = 0; first < columns;) {
    const std::int64_t left = (columns - first + lanes - 1) / lanes;
    const std::int64_t vectors =
        left > max_vectors && left < 2 * max_vectors ? (left + 1) / 2 : std::min(left, max_vectors);
    const std::int64_t of_last = vectors == left ? columns - first - (vectors - 1) * lanes : lanes;
    const MatrixRows<const float> from{b.data + first, b.stride};
    const MatrixRows<float> to{c.data + first, c.stride};
    if (vectors == 1)  // twice as many rows, or a sum would wait for its last product
      multiply_rows<bytes, 1, 2 * at_once>(product, rows, a, from, to, of_last);
    else if (vectors == 2)
      multiply_rows<bytes, 2, at_once>(product, rows, a, from, to, of_last);
    else if constexpr (max_vectors > 2)
      multiply_rows<bytes, 3, at_once>(product, rows, a, from, to, of_last);
    first += vectors * lanes;
  }
}

constexpr std::int64_t rows_of_block = 8;

/// Transposes four numbers, from `first` on, of eight rows into four rows of eight.
[[gnu::always_inline]] inline void transpose_block(const float* const* rows, std::int64_t first,
                                                   const MatrixRows<float>& made) {
  using Four = Vector<16>::Unaligned;
  using Eight = Vector<32>::Unaligned;
  Vector<32>::Type joined[4];  // each of the first four rows, and the row four below
#pragma GCC unroll 4
  for (int row = 0; row < 4; ++row)
    joined[row] =
        __builtin_shufflevector(*reinterpret_cast<const Four*>(rows[row] + first),
                                *reinterpret_cast<const Four*>(rows[row + 4] + first), 0, 1, 2, 3, 4, 5, 6, 7);
  const Vector<32>::Type mixed[2][2] = {{__builtin_shufflevector(joined[0], joined[1], 0, 8, 1, 9, 4, 12, 5, 13),
                                         __builtin_shufflevector(joined[2], joined[3], 0, 8, 1, 9, 4, 12, 5, 13)},
                                        {__builtin_shufflevector(joined[0], joined[1], 2, 10, 3, 11, 6, 14, 7, 15),
                                         __builtin_shufflevector(joined[2], joined[3], 2, 10, 3, 11, 6, 14, 7, 15)}};
#pragma GCC unroll 2
  for (std::int64_t half = 0; half < 2; ++half) {
    const auto& [low, high] = mixed[half];
    *reinterpret_cast<Eight*>(made.row(2 * half)) = __builtin_shufflevector(low, high, 0, 1, 8, 9, 4, 5, 12, 13);
    *reinterpret_cast<Eight*>(made.row(2 * half + 1)) = __builtin_shufflevector(low, high, 2, 3, 10, 11, 6, 7, 14, 15);
  }
}

/// `made` [inner, made.stride] becomes the transpose of `b` [columns, inner]. Beyond its columns may be anything
/// finite.
[[gnu::always_inline]] inline void lay_out_transposed(const MatrixRows<const float>& b, std::int64_t columns,
                                                      std::int64_t inner, const MatrixRows<float>& made) {
  std::int64_t column = 0;
  for (; column < columns; column += rows_of_block) {
    const float* rows[rows_of_block];
    for (std::int64_t row = 0; row < rows_of_block; ++row) rows[row] = b.row(std::min(column + row, columns - 1));
    std::int64_t index = 0;
    for (; index + 4 <= inner; index += 4) transpose_block(rows, index, {made.row(index) + column, made.stride});
    for (; index < inner; ++index)
      for (std::int64_t row = 0; row < rows_of_block; ++row) made.row(index)[column + row] = rows[row][index];
  }
  if (column == made.stride) return;
  for (std::int64_t index = 0; index < inner; ++index) std::fill(made.row(index) + column, made.row(index + 1), 0.0F);
}

/// `made` becomes a copy of `b` [inner, columns], with zeros up to whole vectors.
[[gnu::always_inline]] inline void lay_out(const MatrixRows<const float>& b, std::int64_t columns, std::int64_t inner,
                                           const MatrixRows<float>& made) {
  for (std::int64_t index = 0; index < inner; ++index) {
    std::copy_n(b.row(index), columns, made.row(index));
    std::fill(made.row(index) + columns, made.row(index + 1), 0.0F);
  }
}

template <int bytes, int at_once, std::int64_t max_vectors>
[[gnu::always_inline]] inline void multiply_laid_out(const Product& product, std::int64_t rows, std::int64_t columns,
                                                     const Left& a, const Factor<float>& b,
                                                     const MatrixRows<float>& c) {
  if (!b.transposed && columns % Vector<bytes>::lanes == 0)
    return multiply_all<bytes, at_once, max_vectors>(product, rows, columns, a, b.rows, c);
  alignas(64) float laid_out[copy_capacity];
  const MatrixRows<float> made{laid_out, in_whole_vectors(columns)};
  if (b.transposed)
    lay_out_transposed(b.rows, columns, product.inner, made);
  else
    lay_out(b.rows, columns, product.inner, made);
  multiply_all<bytes, at_once, max_vectors>(product, rows, columns, a, {made.data, made.stride}, c);
}

[[gnu::target("avx512f")]] void multiply_avx512(const Product& product, std::int64_t rows, std::int64_t columns,
                                                const Left& a, const Factor<float>& b, const MatrixRows<float>& c) {
  multiply_laid_out<64, 8, 3>(product, rows, columns, a, b, c);
}
[[gnu::target("avx2,fma")]] void multiply_avx2(const Product& product, std::int64_t rows, std::int64_t columns,
                                               const Left& a, const Factor<float>& b, const MatrixRows<float>& c) {
  multiply_laid_out<32, 6, 2>(product, rows, columns, a, b, c);
}
void multiply_plainly(const Product& product, std::int64_t rows, std::int64_t columns, const Left& a,
                      const Factor<float>& b, const MatrixRows<float>& c) {
  multiply_laid_out<16, 4, 2>(product, rows, columns, a, b, c);
}

/// The product for a single row: to copy b into another layout would take longer than the product.
void multiply_row_transposed(const Product& product, std::int64_t columns, const float* a,
                             const MatrixRows<const float>& b, float* c) {
  for (std::int64_t column = 0; column < columns; ++column) {
    const float made = product.scale * dot(a, b.row(column), static_cast<std::size_t>(product.inner));
    c[column] = product.kept == 0 ? made : made + product.kept * c[column];
  }
}

}  // namespace

bool suits_tiles(std::int64_t rows, std::int64_t columns, std::int64_t inner) {
  return rows * columns * inner <= max_multiplications && in_whole_vectors(columns) * inner <= copy_capacity;
}

void multiply_in_tiles(std::int64_t rows, std::int64_t columns, std::int64_t inner, float scale, const Factor<float>& a,
                       const Factor<float>& b, float kept, const MatrixRows<float>& c, Instructions instructions) {
  const Product product{inner, scale, kept};
  if (rows == 1 && b.transposed && !a.transposed)
    return multiply_row_transposed(product, columns, a.rows.data, b.rows, c.data);
  const Left left{a.rows.data, a.transposed ? 1 : a.rows.stride, a.transposed ? a.rows.stride : 1};
  const bool fill_wide_vectors = columns > Vector<32>::lanes;
  const auto multiply = instructions == Instructions::plain                        ? multiply_plainly
                        : instructions == Instructions::avx2 || !fill_wide_vectors ? multiply_avx2
                                                                                   : multiply_avx512;
  multiply(product, rows, columns, left, b, c);
}

}  // namespace ut::core
