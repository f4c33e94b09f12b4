#pragma once

#include <cstdint>

#include "core/kernels/gemm.h"
#include "core/kernels/instructions.h"

namespace ut::core {

/// Whether a product is so small that what a library does around it takes longer than the product.
bool suits_tiles(std::int64_t rows, std::int64_t columns, std::int64_t inner);

/// gemm() of such a product: c is made a tile at a time, whose sums stay in registers.
void multiply_in_tiles(std::int64_t rows, std::int64_t columns, std::int64_t inner, float scale, const Factor<float>& a,
                       const Factor<float>& b, float kept, const MatrixRows<float>& c,
                       Instructions instructions = best_instructions());

}  // namespace ut::core
