// float32 products by LibTorch's BLAS, for processors for which oneDNN has no kernels of its own.

#include <string>

#include "core/kernels/blas.h"

namespace ut::core {

void library_gemm(std::int64_t rows, std::int64_t columns, std::int64_t inner, float scale, const Factor<float>& a,
                  const Factor<float>& b, float kept, const MatrixRows<float>& c) {
  blas_gemm(sgemm_, rows, columns, inner, scale, a, b, kept, c);
}

std::string gemm_library() { return "LibTorch's BLAS"; }

}  // namespace ut::core
