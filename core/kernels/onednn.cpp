// float32 products by oneDNN, which uses vectors as wide as the processor's, whoever made the processor. Some of those
// without AVX-512 are made by LibTorch's BLAS.

#include <dlfcn.h>

#include <cstdint>
#include <stdexcept>
#include <string>

#include "core/kernels/blas.h"
#include "core/kernels/gemm.h"
#include "core/kernels/instructions.h"

namespace ut::core {
namespace {

/// Whether oneDNN's AVX2 kernels read a factor where it is, along its columns. If the result has few rows or columns,
/// they copy nothing into order first. Rows whose distance is a multiple of 4 KB then share one set of the cache: such
/// products, weights' gradients above all, were seen at 0.4 of the speed of LibTorch's BLAS.
bool reads_columns_in_place(std::int64_t rows, std::int64_t columns, const Factor<float>& a, const Factor<float>& b) {
  if (1 / static_cast<double>(rows) + 1 / static_cast<double>(columns) < 0.0038) return false;  // oneDNN's own bound
  constexpr std::int64_t numbers_of_4_kb = 1024;
  constexpr std::int64_t worth_ordering = 32;  // rows
  return a.transposed || (!b.transposed && b.rows.stride % numbers_of_4_kb == 0 && rows >= worth_ordering);
}

// Declared as in oneDNN's header, because LibTorch brings that of another version, which would be included instead.
using Sgemm = int(char transpose_a, char transpose_b, std::int64_t m, std::int64_t n, std::int64_t k, float alpha,
                  const float* a, std::int64_t stride_a, const float* b, std::int64_t stride_b, float beta, float* c,
                  std::int64_t stride_c);
struct Version {
  int major, minor, patch;
};

struct Library {
  Sgemm* sgemm;
  Version version;
};

/// Loads oneDNN apart from the one inside LibTorch: if the program were linked to both, each would call some functions
/// of the other's version. Throws std::runtime_error.
Library load() {
  void* handle = dlopen(UT_ONEDNN_LIBRARY, RTLD_NOW | RTLD_LOCAL | RTLD_DEEPBIND);
  if (handle == nullptr) {
    const std::string why = dlerror();
    const bool is_missing = why.find("No such file") != std::string::npos;
    throw std::runtime_error("oneDNN cannot be loaded (" + why + ")" +
                             (is_missing ? ": install it, Debian's libdnnl-dev, or build with -DUT_ONEDNN=OFF" : ""));
  }
  const auto function = [handle](const char* name) {
    void* found = dlsym(handle, name);
    if (found == nullptr)
      throw std::runtime_error("oneDNN has no function " + std::string(name) + " (" + UT_ONEDNN_LIBRARY +
                               "): install Debian's libdnnl-dev, or build with -DUT_ONEDNN=OFF");
    return found;
  };
  const auto version = reinterpret_cast<const Version* (*)()>(function("dnnl_version"));
  return {reinterpret_cast<Sgemm*>(function("dnnl_sgemm")), *version()};
}

const Library& library() {
  static const Library loaded = load();
  return loaded;
}

}  // namespace

void library_gemm(std::int64_t rows, std::int64_t columns, std::int64_t inner, float scale, const Factor<float>& a,
                  const Factor<float>& b, float kept, const MatrixRows<float>& c) {
  static const bool has_avx2_alone = best_instructions() == Instructions::avx2;
  if (has_avx2_alone && reads_columns_in_place(rows, columns, a, b))
    return blas_gemm(sgemm_, rows, columns, inner, scale, a, b, kept, c);
  const auto letter = [](const Factor<float>& factor) { return factor.transposed ? 'T' : 'N'; };
  const int status = library().sgemm(letter(a), letter(b), rows, columns, inner, scale, a.rows.data, a.rows.stride,
                                     b.rows.data, b.rows.stride, kept, c.data, c.stride);
  if (status != 0) throw std::runtime_error("oneDNN's matrix product failed with status " + std::to_string(status));
}

std::string gemm_library() {
  const Version& version = library().version;
  return "oneDNN " + std::to_string(version.major) + '.' + std::to_string(version.minor) + '.' +
         std::to_string(version.patch);
}

}  // namespace ut::core
