#include "core/kernels/gemm.h"

#include "core/kernels/blas.h"
#include "core/kernels/tile_product.h"

namespace ut::core {

void gemm(std::int64_t rows, std::int64_t columns, std::int64_t inner, float scale, const Factor<float>& a,
          const Factor<float>& b, float kept, MatrixRows<float> c) {
  if (suits_tiles(rows, columns, inner))
    multiply_in_tiles(rows, columns, inner, scale, a, b, kept, c);
  else
    library_gemm(rows, columns, inner, scale, a, b, kept, c);
}

void gemm(std::int64_t rows, std::int64_t columns, std::int64_t inner, double scale, const Factor<double>& a,
          const Factor<double>& b, double kept, MatrixRows<double> c) {
  blas_gemm(dgemm_, rows, columns, inner, scale, a, b, kept, c);
}

}  // namespace ut::core
