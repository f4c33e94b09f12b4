#pragma once

#include <cstdint>

#include "core/gemm.h"

namespace ut::core {

/// `function`, BLAS's gemm for these numbers, as LibTorch exports it. To it a row is a column, so that what it computes
/// is the transposed product.
template <class Number, class Function>
void blas_gemm(Function function, std::int64_t rows, std::int64_t columns, std::int64_t inner, Number scale,
               const Factor<Number>& a, const Factor<Number>& b, Number kept, MatrixRows<Number> c) {
  const auto letter = [](const Factor<Number>& factor) { return factor.transposed ? 'T' : 'N'; };
  const auto size = [](std::int64_t number) { return static_cast<int>(number); };
  const char letters[] = {letter(b), letter(a)};
  const int sizes[] = {size(columns),       size(rows),          size(inner),
                       size(b.rows.stride), size(a.rows.stride), size(c.stride)};
  function(letters, letters + 1, sizes, sizes + 1, sizes + 2, &scale, b.rows.data, sizes + 3, a.rows.data, sizes + 4,
           &kept, c.data, sizes + 5);
}

}  // namespace ut::core
