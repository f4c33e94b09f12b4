#include "core/signals.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cmath>

namespace ut::core {
namespace {

constexpr std::int64_t positions = 500;

/// Equations 6 and 7, counting from 1: column 2j is the sine, 2j + 1 the cosine, of (index + 1) / 10000^(2j/d).
double interleaved(std::int64_t index, std::int64_t column, std::int64_t d_model) {
  const double exponent = static_cast<double>(column - column % 2) / static_cast<double>(d_model);
  const double angle = static_cast<double>(index + 1) / std::pow(10000.0, exponent);
  return column % 2 == 0 ? std::sin(angle) : std::cos(angle);
}

/// The authors' code, counting from 0: sines, then cosines, of index / 10000^(i/(d/2-1)). If d is odd, the last is 0.
double halves(std::int64_t index, std::int64_t column, std::int64_t d_model) {
  const std::int64_t half = d_model / 2;
  if (column == 2 * half) return 0;
  const double exponent = half == 1 ? 0 : static_cast<double>(column % half) / static_cast<double>(half - 1);
  const double angle = static_cast<double>(index) / std::pow(10000.0, exponent);
  return column < half ? std::sin(angle) : std::cos(angle);
}

TEST(Signals, EqualTheirFormulas) {
  for (const std::int64_t d_model : {2, 3, 8, 17, 128})
    for (const Signal kind : {Signal::interleaved, Signal::halves}) {
      const at::Tensor signal = sinusoid(at::arange(positions), d_model, kind);
      ASSERT_EQ(signal.sizes(), (std::vector<std::int64_t>{positions, d_model}));
      ASSERT_EQ(signal.scalar_type(), at::kDouble);
      const auto value = signal.accessor<double, 2>();
      for (std::int64_t index = 0; index < positions; ++index)
        for (std::int64_t column = 0; column < d_model; ++column)
          ASSERT_NEAR(value[index][column],
                      kind == Signal::halves ? halves(index, column, d_model) : interleaved(index, column, d_model),
                      1e-12)
              << "index " << index << ", column " << column << " of " << d_model;
    }
}

TEST(Signals, DependOnTheIndexNotOnItsPlace) {
  const at::Tensor all = sinusoid(at::arange(20), 8, Signal::interleaved);
  const at::Tensor some = at::tensor({7, 0, 19, 7}, at::kLong);
  EXPECT_TRUE(sinusoid(some, 8, Signal::interleaved).equal(all.index_select(0, some)));
}

}  // namespace
}  // namespace ut::core
