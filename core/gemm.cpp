#include "core/gemm.h"

#include "core/blas.h"

// NOLINTBEGIN(readability-identifier-naming): the name is BLAS's
extern "C" void dgemm_(const char* transpose_a, const char* transpose_b, const int* m, const int* n, const int* k,
                       const double* alpha, const double* a, const int* stride_a, const double* b, const int* stride_b,
                       const double* beta, double* c, const int* stride_c);
// NOLINTEND(readability-identifier-naming)

namespace ut::core {

void gemm(std::int64_t rows, std::int64_t columns, std::int64_t inner, double scale, const Factor<double>& a,
          const Factor<double>& b, double kept, MatrixRows<double> c) {
  blas_gemm(dgemm_, rows, columns, inner, scale, a, b, kept, c);
}

}  // namespace ut::core
