#include "core/gemm.h"

#include "core/blas.h"

namespace ut::core {

void gemm(std::int64_t rows, std::int64_t columns, std::int64_t inner, double scale, const Factor<double>& a,
          const Factor<double>& b, double kept, MatrixRows<double> c) {
  blas_gemm(dgemm_, rows, columns, inner, scale, a, b, kept, c);
}

}  // namespace ut::core
