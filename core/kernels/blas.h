#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <utility>

#include "core/kernels/gemm.h"

namespace ut::core {

/// The type of BLAS's gemm function for numbers of this type.
template <class Number>
using BlasGemm = void(const char* transpose_a, const char* transpose_b, const int* m, const int* n, const int* k,
                      const Number* alpha, const Number* a, const int* stride_a, const Number* b, const int* stride_b,
                      const Number* beta, Number* c, const int* stride_c);

// As LibTorch exports them.
// NOLINTBEGIN(readability-identifier-naming): the names are BLAS's
extern "C" {
BlasGemm<float> sgemm_;
BlasGemm<double> dgemm_;
}
// NOLINTEND(readability-identifier-naming)

/// gemm() by one of these functions. What we store as a row is a column to BLAS, so it is made to compute the
/// transposed product. Throws std::runtime_error if a size is too large for an int.
template <class Number>
void blas_gemm(BlasGemm<Number>* function, std::int64_t rows, std::int64_t columns, std::int64_t inner, Number scale,
               const Factor<Number>& a, const Factor<Number>& b, Number kept, MatrixRows<Number> c) {
  const auto letter = [](const Factor<Number>& factor) { return factor.transposed ? 'T' : 'N'; };
  const auto size = [](std::int64_t number) {
    if (!std::in_range<int>(number))
      throw std::runtime_error("a matrix of " + std::to_string(number) + " rows or columns is too large for BLAS");
    return static_cast<int>(number);
  };
  const char letters[] = {letter(b), letter(a)};
  const int sizes[] = {size(columns),       size(rows),          size(inner),
                       size(b.rows.stride), size(a.rows.stride), size(c.stride)};
  function(letters, letters + 1, sizes, sizes + 1, sizes + 2, &scale, b.rows.data, sizes + 3, a.rows.data, sizes + 4,
           &kept, c.data, sizes + 5);
}

}  // namespace ut::core
