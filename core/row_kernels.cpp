#include "core/row_kernels.h"

namespace ut::core {
namespace {

template <class Number>
[[gnu::always_inline]] inline void add_bias_and_relu_of(Number* x, const Number* bias, std::size_t columns) {
  for (std::size_t column = 0; column < columns; ++column) {
    const Number sum = x[column] + bias[column];
    x[column] = sum < 0 ? Number{0} : sum;  // not a number stays that
  }
}

template <class Number>
[[gnu::always_inline]] inline void scale_where_positive_of(const Number* output, const Number* gradient, Number scale,
                                                           Number* result, std::size_t columns) {
  for (std::size_t column = 0; column < columns; ++column) {
    const Number scaled = scale * gradient[column];
    result[column] = output[column] <= 0 ? Number{0} : scaled;
  }
}

template <class Number>
[[gnu::always_inline]] inline void add_row_of(const Number* x, Number* sum, std::size_t columns) {
  for (std::size_t column = 0; column < columns; ++column) sum[column] += x[column];
}

}  // namespace

[[gnu::target_clones("avx512f", "avx2", "default")]] void add_bias_and_relu(float* x, const float* bias,
                                                                            std::size_t columns) {
  add_bias_and_relu_of(x, bias, columns);
}
[[gnu::target_clones("avx512f", "avx2", "default")]] void add_bias_and_relu(double* x, const double* bias,
                                                                            std::size_t columns) {
  add_bias_and_relu_of(x, bias, columns);
}

[[gnu::target_clones("avx512f", "avx2", "default")]] void scale_where_positive(const float* output,
                                                                               const float* gradient, float scale,
                                                                               float* result, std::size_t columns) {
  scale_where_positive_of(output, gradient, scale, result, columns);
}
[[gnu::target_clones("avx512f", "avx2", "default")]] void scale_where_positive(const double* output,
                                                                               const double* gradient, double scale,
                                                                               double* result, std::size_t columns) {
  scale_where_positive_of(output, gradient, scale, result, columns);
}

[[gnu::target_clones("avx512f", "avx2", "default")]] void add_row(const float* x, float* sum, std::size_t columns) {
  add_row_of(x, sum, columns);
}
[[gnu::target_clones("avx512f", "avx2", "default")]] void add_row(const double* x, double* sum, std::size_t columns) {
  add_row_of(x, sum, columns);
}

}  // namespace ut::core
