#include "core/row_kernels.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>

// Written as templates that are compiled into functions for several sets of instructions. CMake says with which options
// GCC makes vector instructions of them.
namespace ut::core {
namespace {

template <class Number>
[[gnu::always_inline]] inline void add_bias_and_relu_of(Number* __restrict x, const Number* __restrict bias,
                                                        std::size_t columns) {
  for (std::size_t column = 0; column < columns; ++column) {
    const Number sum = x[column] + bias[column];
    x[column] = sum < 0 ? Number{0} : sum;  // not a number stays that
  }
}

template <class Number>
[[gnu::always_inline]] inline void scale_where_positive_of(const Number* __restrict output,
                                                           const Number* __restrict gradient, Number scale,
                                                           Number* __restrict result, std::size_t columns) {
  for (std::size_t column = 0; column < columns; ++column) {
    const Number scaled = scale * gradient[column];
    result[column] = output[column] <= 0 ? Number{0} : scaled;
  }
}

template <class Number>
[[gnu::always_inline]] inline void add_row_of(const Number* __restrict x, Number* __restrict sum, std::size_t columns) {
  for (std::size_t column = 0; column < columns; ++column) sum[column] += x[column];
}

template <class Number>
[[gnu::always_inline]] inline void mix_rows_of(Number* __restrict x, Number x_share, const Number* __restrict y,
                                               Number y_share, std::size_t columns) {
  for (std::size_t column = 0; column < columns; ++column) x[column] = x_share * x[column] + y_share * y[column];
}

/// By powers of two and a polynomial, to the last bits of a float; x from -87 to some tens.
[[gnu::always_inline]] inline float exponential(float x) {
  constexpr float rounds = 12582912;  // 1.5 * 2^23: adding it leaves the integer in the last bits
  const float shifted = x * 1.44269504F + rounds;
  const float power = shifted - rounds;
  const float rest = (x - power * 0.693359375F) + power * 2.12194440e-4F;
  float sum = 1.9875691500e-4F;
  sum = sum * rest + 1.3981999507e-3F;
  sum = sum * rest + 8.3334519073e-3F;
  sum = sum * rest + 4.1665795894e-2F;
  sum = sum * rest + 1.6666665459e-1F;
  sum = sum * rest + 5.0000001201e-1F;
  sum = sum * rest * rest + rest + 1;
  const auto bits = static_cast<std::uint32_t>(std::bit_cast<std::int32_t>(shifted) - 0x4B400000 + 127) << 23;
  return sum * std::bit_cast<float>(bits);
}
[[gnu::always_inline]] inline double exponential(double x) { return std::exp(x); }

template <class Number>
[[gnu::always_inline]] inline Number largest_of(const Number* x, std::size_t columns) {
  Number most[lanes];
  std::fill_n(most, lanes, x[0]);
  std::size_t column = 0;
  for (; column + lanes <= columns; column += lanes)
    for (std::size_t lane = 0; lane < lanes; ++lane)
      most[lane] = most[lane] < x[column + lane] ? x[column + lane] : most[lane];
  for (; column < columns; ++column) most[0] = most[0] < x[column] ? x[column] : most[0];
  return *std::max_element(most, most + lanes);
}

template <class Number>
[[gnu::always_inline]] inline void exponentials_of(Number* x, std::size_t columns, Number subtracted) {
  constexpr Number least = sizeof(Number) == sizeof(float) ? -87 : -708;  // whose exponential is a normal number
  for (std::size_t column = 0; column < columns; ++column) {
    const Number difference = x[column] - subtracted;
    x[column] = exponential(difference < least ? least : difference);  // not a number stays that
  }
}

template <class Number>
[[gnu::always_inline]] inline Number sum_of(const Number* x, std::size_t columns) {
  Number sums[lanes] = {};
  std::size_t column = 0;
  for (; column + lanes <= columns; column += lanes)
    for (std::size_t lane = 0; lane < lanes; ++lane) sums[lane] += x[column + lane];
  Number sum = 0;
  for (const Number part : sums) sum += part;
  for (; column < columns; ++column) sum += x[column];
  return sum;
}

template <class Number>
[[gnu::always_inline]] inline Number softmax_of(Number* x, std::size_t columns) {
  const std::size_t room = whole_vectors(columns);
  std::fill(x + columns, x + room, x[0]);
  const Number most = largest_of(x, room);
  exponentials_of(x, room, most);
  std::fill(x + columns, x + room, Number{0});
  const Number sum = sum_of(x, room);
  const Number share = 1 / sum;
  for (std::size_t column = 0; column < room; ++column) x[column] *= share;
  return most + std::log(sum);
}

template <class Number>
[[gnu::always_inline]] inline Number dot_of(const Number* x, const Number* y, std::size_t columns) {
  Number sums[lanes] = {};
  std::size_t column = 0;
  for (; column + lanes <= columns; column += lanes)
    for (std::size_t lane = 0; lane < lanes; ++lane) sums[lane] += x[column + lane] * y[column + lane];
  Number sum = 0;
  for (const Number part : sums) sum += part;
  for (; column < columns; ++column) sum += x[column] * y[column];
  return sum;
}

template <class Number>
[[gnu::always_inline]] inline Number normalise_of(Number* __restrict x, std::size_t columns, Number epsilon) {
  const auto count = static_cast<Number>(columns);
  const Number mean = sum_of(x, columns) / count;
  for (std::size_t column = 0; column < columns; ++column) x[column] -= mean;
  const Number factor = 1 / std::sqrt(dot_of(x, x, columns) / count + epsilon);
  for (std::size_t column = 0; column < columns; ++column) x[column] *= factor;
  return factor;
}

template <class Number>
[[gnu::always_inline]] inline void scale_and_add_of(const Number* __restrict x, const Number* __restrict scale,
                                                    const Number* __restrict bias, Number* __restrict result,
                                                    std::size_t columns) {
  for (std::size_t column = 0; column < columns; ++column) result[column] = scale[column] * x[column] + bias[column];
}

template <class Number>
[[gnu::always_inline]] inline void normalise_back_of(const Number* __restrict normalised, Number factor,
                                                     const Number* __restrict scale, const Number* __restrict gradient,
                                                     Number* __restrict result, std::size_t columns) {
  for (std::size_t column = 0; column < columns; ++column) result[column] = scale[column] * gradient[column];
  const auto count = static_cast<Number>(columns);
  const Number mean = sum_of(result, columns) / count;
  const Number along = dot_of(result, normalised, columns) / count;
  for (std::size_t column = 0; column < columns; ++column)
    result[column] = factor * (result[column] - mean - along * normalised[column]);
}

template <class Number>
[[gnu::always_inline]] inline void add_products_of(const Number* __restrict x, const Number* __restrict y,
                                                   Number* __restrict sum, std::size_t columns) {
  for (std::size_t column = 0; column < columns; ++column) sum[column] += x[column] * y[column];
}

template <class Number>
[[gnu::always_inline]] inline void multiply_differences_of(const Number* __restrict weights, Number mean,
                                                           Number* __restrict gradient, std::size_t columns) {
  for (std::size_t column = 0; column < columns; ++column)
    gradient[column] = weights[column] * (gradient[column] - mean);
}

}  // namespace

[[gnu::target_clones("avx512f", "avx2", "default")]] void add_bias_and_relu(float* x, const float* bias,
                                                                            std::size_t columns) {
  add_bias_and_relu_of(x, bias, columns);
}
void add_bias_and_relu(double* x, const double* bias, std::size_t columns) { add_bias_and_relu_of(x, bias, columns); }

[[gnu::target_clones("avx512f", "avx2", "default")]] void scale_where_positive(const float* output,
                                                                               const float* gradient, float scale,
                                                                               float* result, std::size_t columns) {
  scale_where_positive_of(output, gradient, scale, result, columns);
}
void scale_where_positive(const double* output, const double* gradient, double scale, double* result,
                          std::size_t columns) {
  scale_where_positive_of(output, gradient, scale, result, columns);
}

[[gnu::target_clones("avx512f", "avx2", "default")]] void add_row(const float* x, float* sum, std::size_t columns) {
  add_row_of(x, sum, columns);
}
void add_row(const double* x, double* sum, std::size_t columns) { add_row_of(x, sum, columns); }

[[gnu::target_clones("avx512f", "avx2", "default")]] void mix_rows(float* x, float x_share, const float* y,
                                                                   float y_share, std::size_t columns) {
  mix_rows_of(x, x_share, y, y_share, columns);
}
void mix_rows(double* x, double x_share, const double* y, double y_share, std::size_t columns) {
  mix_rows_of(x, x_share, y, y_share, columns);
}

[[gnu::target_clones("avx512f", "avx2", "default")]] float softmax(float* x, std::size_t columns) {
  return softmax_of(x, columns);
}
double softmax(double* x, std::size_t columns) { return softmax_of(x, columns); }

[[gnu::target_clones("avx512f", "avx2", "default")]] void exponentials(float* x, std::size_t columns, float log_sum) {
  std::fill(x + columns, x + whole_vectors(columns), log_sum);
  exponentials_of(x, whole_vectors(columns), log_sum);
}
void exponentials(double* x, std::size_t columns, double log_sum) { exponentials_of(x, columns, log_sum); }

[[gnu::target_clones("avx512f", "avx2", "default")]] float normalise(float* x, std::size_t columns, float epsilon) {
  return normalise_of(x, columns, epsilon);
}
double normalise(double* x, std::size_t columns, double epsilon) { return normalise_of(x, columns, epsilon); }

[[gnu::target_clones("avx512f", "avx2", "default")]] void scale_and_add(const float* x, const float* scale,
                                                                        const float* bias, float* result,
                                                                        std::size_t columns) {
  scale_and_add_of(x, scale, bias, result, columns);
}
void scale_and_add(const double* x, const double* scale, const double* bias, double* result, std::size_t columns) {
  scale_and_add_of(x, scale, bias, result, columns);
}

[[gnu::target_clones("avx512f", "avx2", "default")]] void normalise_back(const float* normalised, float factor,
                                                                         const float* scale, const float* gradient,
                                                                         float* result, std::size_t columns) {
  normalise_back_of(normalised, factor, scale, gradient, result, columns);
}
void normalise_back(const double* normalised, double factor, const double* scale, const double* gradient,
                    double* result, std::size_t columns) {
  normalise_back_of(normalised, factor, scale, gradient, result, columns);
}

[[gnu::target_clones("avx512f", "avx2", "default")]] void add_products(const float* x, const float* y, float* sum,
                                                                       std::size_t columns) {
  add_products_of(x, y, sum, columns);
}
void add_products(const double* x, const double* y, double* sum, std::size_t columns) {
  add_products_of(x, y, sum, columns);
}

[[gnu::target_clones("avx512f", "avx2", "default")]] float dot(const float* x, const float* y, std::size_t columns) {
  return dot_of(x, y, columns);
}
double dot(const double* x, const double* y, std::size_t columns) { return dot_of(x, y, columns); }

[[gnu::target_clones("avx512f", "avx2", "default")]] void multiply_differences(const float* weights, float mean,
                                                                               float* gradient, std::size_t columns) {
  multiply_differences_of(weights, mean, gradient, columns);
}
void multiply_differences(const double* weights, double mean, double* gradient, std::size_t columns) {
  multiply_differences_of(weights, mean, gradient, columns);
}

}  // namespace ut::core
