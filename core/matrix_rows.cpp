#include "core/matrix_rows.h"

#include <type_traits>

// As LibTorch exports them. Matrices are columns one after the other: c [m, n] = alpha a b + beta c.
// NOLINTBEGIN(readability-identifier-naming): the names are BLAS's
extern "C" {
void sgemm_(const char* transpose_a, const char* transpose_b, const int* m, const int* n, const int* k,
            const float* alpha, const float* a, const int* stride_a, const float* b, const int* stride_b,
            const float* beta, float* c, const int* stride_c);
void dgemm_(const char* transpose_a, const char* transpose_b, const int* m, const int* n, const int* k,
            const double* alpha, const double* a, const int* stride_a, const double* b, const int* stride_b,
            const double* beta, double* c, const int* stride_c);
}
// NOLINTEND(readability-identifier-naming)

namespace ut::core {
namespace {

/// a and b as BLAS sees them, to which a row is a column.
template <class Number>
void gemm(char transpose_a, char transpose_b, std::int64_t m, std::int64_t n, std::int64_t k, Number alpha,
          MatrixRows<const Number> a, MatrixRows<const Number> b, Number beta, MatrixRows<Number> c) {
  const auto size = [](std::int64_t number) { return static_cast<int>(number); };
  const int sizes[] = {size(m), size(n), size(k), size(a.stride), size(b.stride), size(c.stride)};
  if constexpr (std::is_same_v<Number, float>)
    sgemm_(&transpose_a, &transpose_b, sizes, sizes + 1, sizes + 2, &alpha, a.data, sizes + 3, b.data, sizes + 4, &beta,
           c.data, sizes + 5);
  else
    dgemm_(&transpose_a, &transpose_b, sizes, sizes + 1, sizes + 2, &alpha, a.data, sizes + 3, b.data, sizes + 4, &beta,
           c.data, sizes + 5);
}

}  // namespace

template <class Number>
void multiply_by_transposed(std::int64_t rows, std::int64_t columns, std::int64_t inner, Number scale,
                            MatrixRows<const Number> a, MatrixRows<const Number> b, MatrixRows<Number> c) {
  gemm<Number>('T', 'N', columns, rows, inner, scale, b, a, 0, c);
}

template <class Number>
void multiply(std::int64_t rows, std::int64_t columns, std::int64_t inner, Number scale, MatrixRows<const Number> a,
              MatrixRows<const Number> b, Number kept, MatrixRows<Number> c) {
  gemm<Number>('N', 'N', columns, rows, inner, scale, b, a, kept, c);
}

template <class Number>
void add_transposed_product(std::int64_t rows, std::int64_t columns, std::int64_t inner, Number scale,
                            MatrixRows<const Number> a, MatrixRows<const Number> b, MatrixRows<Number> c) {
  gemm<Number>('N', 'T', columns, rows, inner, scale, b, a, 1, c);
}

template void multiply_by_transposed(std::int64_t, std::int64_t, std::int64_t, float, MatrixRows<const float>,
                                     MatrixRows<const float>, MatrixRows<float>);
template void multiply_by_transposed(std::int64_t, std::int64_t, std::int64_t, double, MatrixRows<const double>,
                                     MatrixRows<const double>, MatrixRows<double>);
template void multiply(std::int64_t, std::int64_t, std::int64_t, float, MatrixRows<const float>,
                       MatrixRows<const float>, float, MatrixRows<float>);
template void multiply(std::int64_t, std::int64_t, std::int64_t, double, MatrixRows<const double>,
                       MatrixRows<const double>, double, MatrixRows<double>);
template void add_transposed_product(std::int64_t, std::int64_t, std::int64_t, float, MatrixRows<const float>,
                                     MatrixRows<const float>, MatrixRows<float>);
template void add_transposed_product(std::int64_t, std::int64_t, std::int64_t, double, MatrixRows<const double>,
                                     MatrixRows<const double>, MatrixRows<double>);

}  // namespace ut::core
