#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

namespace ut::core {

/// The fewest rows of `columns` columns that are given to a thread.
inline std::int64_t rows_at_once(std::int64_t columns) { return 1 + 16384 / std::max<std::int64_t>(1, columns); }

// Loops over one row, in vector instructions if the processor has them.

constexpr std::size_t lanes = 16;  // sums and maxima are taken over this many columns side by side

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

/// x = x_share * x + y_share * y
void mix_rows(float* x, float x_share, const float* y, float y_share, std::size_t columns);
void mix_rows(double* x, double x_share, const double* y, double y_share, std::size_t columns);

/// x = (x - mean) / sqrt(variance + epsilon); returns 1 / sqrt(variance + epsilon).
float normalise(float* x, std::size_t columns, float epsilon);
double normalise(double* x, std::size_t columns, double epsilon);

/// result = scale * x + bias
void scale_and_add(const float* x, const float* scale, const float* bias, float* result, std::size_t columns);
void scale_and_add(const double* x, const double* scale, const double* bias, double* result, std::size_t columns);

/// result = the gradient of what was normalised. `gradient`: that of scale * normalised + bias. `factor`: what
/// normalise() returned.
void normalise_backward(const float* normalised, float factor, const float* scale, const float* gradient, float* result,
                        std::size_t columns);
void normalise_backward(const double* normalised, double factor, const double* scale, const double* gradient,
                        double* result, std::size_t columns);

/// What is multiplied at one place of a filter: a row, and the filter's numbers there.
template <class Number>
struct Factors {
  const Number* row;
  const Number* kernel;
};

/// result = the sum over these places of row * kernel, in their order.
void sum_of_products(std::span<const Factors<float>> places, float* result, std::size_t columns);
void sum_of_products(std::span<const Factors<double>> places, double* result, std::size_t columns);

/// sum += x * y
void add_products(const float* x, const float* y, float* sum, std::size_t columns);
void add_products(const double* x, const double* y, double* sum, std::size_t columns);

/// `columns` rounded up to whole vectors. Functions below that need room for that many overwrite what lies beyond a
/// row's own columns, so that they work on whole vectors only.
constexpr std::size_t whole_vectors(std::size_t columns) { return (columns + lanes - 1) / lanes * lanes; }

/// x = softmax(x), x with room for whole_vectors(columns); returns the logarithm of the sum of exp(x). At least one
/// column.
float softmax(float* x, std::size_t columns);
double softmax(double* x, std::size_t columns);

/// x = exp(x - log_sum), x with room for whole_vectors(columns)
void exponentials(float* x, std::size_t columns, float log_sum);
void exponentials(double* x, std::size_t columns, double log_sum);

float dot(const float* x, const float* y, std::size_t columns);
double dot(const double* x, const double* y, std::size_t columns);

/// gradient = dropped * gradient - mean * weights: the backward pass through dropout and softmax. `weights`: the
/// softmax. `dropped`: what dropout made of it. `mean`: the dot product of the attention's output and its gradient.
/// `gradient`: that of `dropped` before, that of the logits after.
void softmax_backward(const float* weights, const float* dropped, float mean, float* gradient, std::size_t columns);
void softmax_backward(const double* weights, const double* dropped, double mean, double* gradient, std::size_t columns);

}  // namespace ut::core
