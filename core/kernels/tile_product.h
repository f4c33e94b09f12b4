#pragma once

#include <cstdint>

#include "core/kernels/gemm.h"
#include "core/kernels/instructions.h"

namespace ut::core {

/// Whether a product is so small that a library's overhead takes longer than the product.
bool suits_tiles(std::int64_t rows, std::int64_t columns, std::int64_t inner);

/// gemm() for such a product: computes c a tile at a time, with the tile's sums in registers.
void multiply_in_tiles(std::int64_t rows, std::int64_t columns, std::int64_t inner, float scale, const Factor<float>& a,
                       const Factor<float>& b, float kept, const MatrixRows<float>& c,
                       Instructions instructions = best_instructions());

}  // namespace ut::core
