#pragma once

#include <cstdint>

// The convolution of core/kernels/depthwise.h, as work for single threads of a device. constexpr, so that it is
// compiled for the host too, where tests run all threads one after the other.
namespace ut::core {

/// result[row] = sum over places of kernel[place] * known[table[row, place]]. A thread computes one element.
template <class Number>
struct DepthwiseThreads {
  const Number* known;        // [known rows, columns]
  const std::int64_t* table;  // [rows, width]
  const Number* kernel;       // [width, columns]
  Number* result;             // [rows, columns]
  std::int64_t rows;
  std::int64_t width;
  std::int64_t columns;

  constexpr std::int64_t threads() const { return rows * columns; }
  constexpr void run(std::int64_t thread) const {
    const std::int64_t row = thread / columns;
    const std::int64_t column = thread % columns;
    Number sum = 0;
    for (std::int64_t place = 0; place < width; ++place) {
      const std::int64_t seen = table[row * width + place];
      if (seen >= 0) sum += kernel[place * columns + column] * known[seen * columns + column];
    }
    result[thread] = sum;
  }
};

/// Partial sums of the kernel's gradient: a thread computes one of its elements over `rows_at_once` rows.
template <class Number>
struct DepthwiseKernelThreads {
  const Number* known;        // [known rows, columns]
  const std::int64_t* table;  // [rows, width]
  const Number* gradient;     // [rows, columns]
  Number* partial;            // [rows / rows_at_once, rounded up, width, columns]
  std::int64_t rows;
  std::int64_t width;
  std::int64_t columns;
  std::int64_t rows_at_once;

  constexpr std::int64_t threads() const { return (rows + rows_at_once - 1) / rows_at_once * width * columns; }
  constexpr void run(std::int64_t thread) const {
    const std::int64_t column = thread % columns;
    const std::int64_t place = thread / columns % width;
    const std::int64_t begin = thread / columns / width * rows_at_once;
    const std::int64_t end = rows < begin + rows_at_once ? rows : begin + rows_at_once;
    Number sum = 0;
    for (std::int64_t row = begin; row < end; ++row) {
      const std::int64_t seen = table[row * width + place];
      if (seen >= 0) sum += gradient[row * columns + column] * known[seen * columns + column];
    }
    partial[thread] = sum;
  }
};

}  // namespace ut::core
