#include "core/kernels/row_kernels.h"

#include <bit>
#include <cmath>
#include <cstdint>

// Templates that are compiled into functions for several sets of instructions. CMake sets the options with which GCC
// vectorises them.
namespace ut::core {
namespace {

/// A vector of `lanes` numbers, whatever the processor's vectors hold.
template <class Number>
struct LaneVector {
  using Lanes __attribute__((vector_size(lanes * sizeof(Number)))) = Number;
  using Unaligned __attribute__((vector_size(lanes * sizeof(Number)), aligned(alignof(Number)), may_alias)) = Number;
};

/// Combines all lanes into one number: each lane with the one 8, then 4, 2 and 1 lanes away.
template <class Number, class Combine>
[[gnu::always_inline]] inline Number reduce_lanes(typename LaneVector<Number>::Lanes& all, const Combine& combine) {
  using Lanes = typename LaneVector<Number>::Lanes;
  Lanes other = __builtin_shufflevector(all, all, 8, 9, 10, 11, 12, 13, 14, 15, 0, 1, 2, 3, 4, 5, 6, 7);
  combine(all, other);
  other = __builtin_shufflevector(all, all, 4, 5, 6, 7, 0, 1, 2, 3, 12, 13, 14, 15, 8, 9, 10, 11);
  combine(all, other);
  other = __builtin_shufflevector(all, all, 2, 3, 0, 1, 6, 7, 4, 5, 10, 11, 8, 9, 14, 15, 12, 13);
  combine(all, other);
  other = __builtin_shufflevector(all, all, 1, 0, 3, 2, 5, 4, 7, 6, 9, 8, 11, 10, 13, 12, 15, 14);
  combine(all, other);
  return all[0];
}

template <class Number>
[[gnu::always_inline]] inline Number summed(typename LaneVector<Number>::Lanes& all) {
  return reduce_lanes<Number>(
      all, [](auto& into, const auto& other) __attribute__((always_inline)) { into += other; });
}

template <class Number>
[[gnu::always_inline]] inline void add_bias_and_relu_of(Number* __restrict x, const Number* __restrict bias,
                                                        std::size_t columns) {
  for (std::size_t column = 0; column < columns; ++column) {
    const Number sum = x[column] + bias[column];
    x[column] = sum < 0 ? Number{0} : sum;  // NaN stays NaN
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

/// exp(x) by a power of two and a polynomial, accurate to the last bits of a float; x from -87 to some tens.
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

/// The largest number; `columns` is a multiple of `lanes`.
template <class Number>
[[gnu::always_inline]] inline Number largest_of(const Number* x, std::size_t columns) {
  using Unaligned = typename LaneVector<Number>::Unaligned;
  const auto take_larger = [](auto& maximum, const auto& other) __attribute__((always_inline)) {
    maximum = maximum < other ? other : maximum;
  };
  typename LaneVector<Number>::Lanes maximum = *reinterpret_cast<const Unaligned*>(x);
  for (std::size_t column = lanes; column < columns; column += lanes) {
    const typename LaneVector<Number>::Lanes here = *reinterpret_cast<const Unaligned*>(x + column);
    take_larger(maximum, here);
  }
  return reduce_lanes<Number>(maximum, take_larger);
}

template <class Number>
[[gnu::always_inline]] inline void exponentials_of(Number* x, std::size_t columns, Number subtracted) {
  constexpr Number least = sizeof(Number) == sizeof(float) ? -87 : -708;  // its exponential is still a normal number
  for (std::size_t column = 0; column < columns; ++column) {
    const Number difference = x[column] - subtracted;
    x[column] = exponential(difference < least ? least : difference);  // NaN stays NaN
  }
}

template <class Number>
[[gnu::always_inline]] inline Number sum_of(const Number* x, std::size_t columns) {
  typename LaneVector<Number>::Lanes sums = {};
  std::size_t column = 0;
  for (; column + lanes <= columns; column += lanes)
    sums += *reinterpret_cast<const typename LaneVector<Number>::Unaligned*>(x + column);
  Number sum = summed<Number>(sums);
  for (; column < columns; ++column) sum += x[column];
  return sum;
}

/// Sets what lies between a row's columns and whole_vectors(columns).
template <class Number>
[[gnu::always_inline]] inline void fill_beyond(Number* x, std::size_t columns, Number value) {
  using Lanes = typename LaneVector<Number>::Lanes;
  constexpr Lanes lane = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
  const std::size_t own = columns % lanes;
  if (own == 0) return;
  auto& last = *reinterpret_cast<typename LaneVector<Number>::Unaligned*>(x + columns - own);
  const Lanes of_row = last;
  const Lanes beyond = Lanes{} + value;
  last = lane < static_cast<Number>(own) ? of_row : beyond;
}

template <class Number>
[[gnu::always_inline]] inline Number softmax_of(Number* x, std::size_t columns) {
  const std::size_t room = whole_vectors(columns);
  fill_beyond(x, columns, x[0]);
  const Number maximum = largest_of(x, room);
  exponentials_of(x, room, maximum);
  fill_beyond(x, columns, Number{0});
  const Number sum = sum_of(x, room);
  const Number share = 1 / sum;
  for (std::size_t column = 0; column < room; ++column) x[column] *= share;
  return maximum + std::log(sum);
}

template <class Number>
[[gnu::always_inline]] inline Number dot_of(const Number* x, const Number* y, std::size_t columns) {
  using Unaligned = typename LaneVector<Number>::Unaligned;
  typename LaneVector<Number>::Lanes sums = {};
  std::size_t column = 0;
  for (; column + lanes <= columns; column += lanes)
    sums += *reinterpret_cast<const Unaligned*>(x + column) * *reinterpret_cast<const Unaligned*>(y + column);
  Number sum = summed<Number>(sums);
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
[[gnu::always_inline]] inline void normalise_backward_of(const Number* __restrict normalised, Number factor,
                                                         const Number* __restrict scale,
                                                         const Number* __restrict gradient, Number* __restrict result,
                                                         std::size_t columns) {
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

/// Goes over all places of a column at once, so that the sum stays in a register.
template <std::size_t places, class Number>
[[gnu::always_inline]] inline void sum_of_fixed_count(const Factors<Number>* at, Number* __restrict result,
                                                      std::size_t columns) {
  for (std::size_t column = 0; column < columns; ++column) {
    Number sum = 0;
    for (std::size_t place = 0; place < places; ++place) sum += at[place].row[column] * at[place].kernel[column];
    result[column] = sum;
  }
}

template <class Number>
[[gnu::always_inline]] inline void sum_of_products_of(std::span<const Factors<Number>> places, Number* result,
                                                      std::size_t columns) {
  switch (places.size()) {
    case 1:
      return sum_of_fixed_count<1>(places.data(), result, columns);
    case 2:
      return sum_of_fixed_count<2>(places.data(), result, columns);
    case 3:
      return sum_of_fixed_count<3>(places.data(), result, columns);
    case 4:
      return sum_of_fixed_count<4>(places.data(), result, columns);
    case 5:
      return sum_of_fixed_count<5>(places.data(), result, columns);
  }
  std::fill_n(result, columns, Number{0});
  for (const Factors<Number>& at : places) add_products_of(at.row, at.kernel, result, columns);
}

template <class Number>
[[gnu::always_inline]] inline void softmax_backward_of(const Number* weights, const Number* dropped, Number mean,
                                                       Number* __restrict gradient, std::size_t columns) {
  for (std::size_t column = 0; column < columns; ++column)
    gradient[column] = dropped[column] * gradient[column] - mean * weights[column];
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
  fill_beyond(x, columns, log_sum);
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

[[gnu::target_clones("avx512f", "avx2", "default")]] void normalise_backward(const float* normalised, float factor,
                                                                             const float* scale, const float* gradient,
                                                                             float* result, std::size_t columns) {
  normalise_backward_of(normalised, factor, scale, gradient, result, columns);
}
void normalise_backward(const double* normalised, double factor, const double* scale, const double* gradient,
                        double* result, std::size_t columns) {
  normalise_backward_of(normalised, factor, scale, gradient, result, columns);
}

[[gnu::target_clones("avx512f", "avx2", "default")]] void add_products(const float* x, const float* y, float* sum,
                                                                       std::size_t columns) {
  add_products_of(x, y, sum, columns);
}
void add_products(const double* x, const double* y, double* sum, std::size_t columns) {
  add_products_of(x, y, sum, columns);
}

[[gnu::target_clones("avx512f", "avx2", "default")]] void sum_of_products(std::span<const Factors<float>> places,
                                                                          float* result, std::size_t columns) {
  sum_of_products_of(places, result, columns);
}
void sum_of_products(std::span<const Factors<double>> places, double* result, std::size_t columns) {
  sum_of_products_of(places, result, columns);
}

[[gnu::target_clones("avx512f", "avx2", "default")]] float dot(const float* x, const float* y, std::size_t columns) {
  return dot_of(x, y, columns);
}
double dot(const double* x, const double* y, std::size_t columns) { return dot_of(x, y, columns); }

[[gnu::target_clones("avx512f", "avx2", "default")]] void softmax_backward(const float* weights, const float* dropped,
                                                                           float mean, float* gradient,
                                                                           std::size_t columns) {
  softmax_backward_of(weights, dropped, mean, gradient, columns);
}
void softmax_backward(const double* weights, const double* dropped, double mean, double* gradient,
                      std::size_t columns) {
  softmax_backward_of(weights, dropped, mean, gradient, columns);
}

}  // namespace ut::core
