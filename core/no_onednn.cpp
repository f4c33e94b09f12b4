// float32's products by LibTorch's BLAS, where oneDNN has no kernels of its own for the processor.

#include <string>

#include "core/blas.h"

// NOLINTBEGIN(readability-identifier-naming): the name is BLAS's
extern "C" void sgemm_(const char* transpose_a, const char* transpose_b, const int* m, const int* n, const int* k,
                       const float* alpha, const float* a, const int* stride_a, const float* b, const int* stride_b,
                       const float* beta, float* c, const int* stride_c);
// NOLINTEND(readability-identifier-naming)

namespace ut::core {

void gemm(std::int64_t rows, std::int64_t columns, std::int64_t inner, float scale, const Factor<float>& a,
          const Factor<float>& b, float kept, MatrixRows<float> c) {
  blas_gemm(sgemm_, rows, columns, inner, scale, a, b, kept, c);
}

std::string gemm_library() { return "LibTorch's BLAS"; }

}  // namespace ut::core
