// Products of small matrices, with every set of instructions, against sums written out in float64.

#include "core/kernels/tile_product.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <tuple>
#include <vector>

namespace ut::core {
namespace {

constexpr float not_written = std::numeric_limits<float>::quiet_NaN();
constexpr std::int64_t gap = 3;  // numbers between a row's columns and the next row

/// Irregular numbers, with a gap after each row that nobody may read or write.
struct Matrix {
  Matrix(std::int64_t rows, std::int64_t columns, double seed)
      : stride(columns + gap), numbers(static_cast<std::size_t>(rows * stride), not_written) {
    for (std::int64_t row = 0; row < rows; ++row)
      for (std::int64_t column = 0; column < columns; ++column)
        at(row, column) = static_cast<float>(std::sin(seed + static_cast<double>(row * 131 + column * 17)));
  }

  float& at(std::int64_t row, std::int64_t column) { return numbers[static_cast<std::size_t>(row * stride + column)]; }
  MatrixRows<float> rows() { return {numbers.data(), stride}; }

  std::int64_t stride;
  std::vector<float> numbers;
};

using Setting = std::tuple<Instructions, bool, bool, float>;  // whether a and b are transposed; the factor of the old c

class TileProduct : public testing::TestWithParam<Setting> {
 protected:
  static void expect_right(std::int64_t rows, std::int64_t columns, std::int64_t inner) {
    const auto [instructions, a_transposed, b_transposed, kept] = GetParam();
    ASSERT_TRUE(suits_tiles(rows, columns, inner));
    Matrix a = a_transposed ? Matrix(inner, rows, 1) : Matrix(rows, inner, 1);
    Matrix b = b_transposed ? Matrix(columns, inner, 2) : Matrix(inner, columns, 2);
    Matrix before(rows, columns, 3);
    Matrix c = before;
    if (kept == 0) std::fill(c.numbers.begin(), c.numbers.end(), not_written);  // not read
    multiply_in_tiles(rows, columns, inner, 0.5F, a_transposed ? transposed(a.rows()) : as_stored(a.rows()),
                      b_transposed ? transposed(b.rows()) : as_stored(b.rows()), kept, c.rows(), instructions);
    for (std::int64_t row = 0; row < rows; ++row) {
      for (std::int64_t column = 0; column < columns; ++column) {
        double sum = 0;
        for (std::int64_t index = 0; index < inner; ++index)
          sum += 0.5 * (a_transposed ? a.at(index, row) : a.at(row, index)) *
                 (b_transposed ? b.at(column, index) : b.at(index, column));
        if (kept != 0) sum += kept * before.at(row, column);
        ASSERT_NEAR(c.at(row, column), sum, 1e-5)
            << fmt::format("{} x {} x {}: row {}, column {}", rows, columns, inner, row, column);
      }
      for (std::int64_t beyond = columns; beyond < c.stride; ++beyond)
        ASSERT_TRUE(std::isnan(c.at(row, beyond))) << "written beyond the columns";
    }
  }
};

// Every remainder of rows, columns and inner indices, below and above one tile.
TEST_P(TileProduct, IsRightForAllSizes) {
  for (std::int64_t rows = 1; rows <= 18; ++rows)
    for (const std::int64_t columns : {1, 4, 7, 8, 9, 15, 16, 17, 31, 32, 33, 48, 63, 64, 65, 80, 113})
      for (const std::int64_t inner : {1, 2, 3, 4, 5, 8, 19})
        ASSERT_NO_FATAL_FAILURE(expect_right(rows, columns, inner));
  ASSERT_NO_FATAL_FAILURE(expect_right(64, 128, 64));
}

std::vector<Instructions> of_this_processor() {
  std::vector<Instructions> all{Instructions::plain, Instructions::avx2, Instructions::avx512f};
  std::erase_if(all, [](Instructions instructions) { return instructions > best_instructions(); });
  return all;
}

INSTANTIATE_TEST_SUITE_P(Settings, TileProduct,
                         testing::Combine(testing::ValuesIn(of_this_processor()), testing::Bool(), testing::Bool(),
                                          testing::Values(0.0F, 1.0F, 0.25F)));

TEST(TilesSuit, NoLargeProduct) {
  EXPECT_FALSE(suits_tiles(1280, 256, 256));
  EXPECT_FALSE(suits_tiles(1, 4096, 64)) << "b would not fit";
}

}  // namespace
}  // namespace ut::core
