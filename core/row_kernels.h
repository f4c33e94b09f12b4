#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace ut::core {

/// Rows of so many columns that a thread takes at least.
inline std::int64_t rows_at_once(std::int64_t columns) { return 1 + 16384 / std::max<std::int64_t>(1, columns); }

// Loops over one row, in vector instructions where the processor has them.

/// x = max(0, x + bias)
void add_bias_and_relu(float* x, const float* bias, std::size_t columns);
void add_bias_and_relu(double* x, const double* bias, std::size_t columns);

/// result = output <= 0 ? 0 : scale * gradient
void scale_where_positive(const float* output, const float* gradient, float scale, float* result, std::size_t columns);
void scale_where_positive(const double* output, const double* gradient, double scale, double* result,
                          std::size_t columns);

/// sum += x
void add_row(const float* x, float* sum, std::size_t columns);
void add_row(const double* x, double* sum, std::size_t columns);

}  // namespace ut::core
