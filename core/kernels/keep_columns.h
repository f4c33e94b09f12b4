#pragma once

#include <cstddef>
#include <span>

#include "core/kernels/instructions.h"
#include "core/kernels/row_draw.h"

namespace ut::core {

/// What a row's draw drops becomes zero; the other columns are multiplied by `scale`. `from` are the columns from
/// `first` on; so many are written to `to`. `to` may be `from`. The same bits with all instructions.
void keep_columns(const RowDraw& row, std::size_t first, std::span<const float> from, float scale, float* to,
                  Instructions instructions = best_instructions());
void keep_columns(const RowDraw& row, std::size_t first, std::span<const double> from, double scale, double* to,
                  Instructions instructions = best_instructions());

}  // namespace ut::core
