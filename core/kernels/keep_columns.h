#pragma once

#include <cstddef>
#include <span>

#include "core/kernels/dropout_draw.h"
#include "core/kernels/instructions.h"

namespace ut::core {

/// Dropout of some columns of a row: those that `row` drops become zero, the others are multiplied by `scale`. `from`
/// has the row's columns from `first` on; as many are written to `to`, which may be `from`. The bits are the same with
/// all instructions.
void keep_columns(const DropoutDraw& row, std::size_t first, std::span<const float> from, float scale, float* to,
                  Instructions instructions = best_instructions());
void keep_columns(const DropoutDraw& row, std::size_t first, std::span<const double> from, double scale, double* to,
                  Instructions instructions = best_instructions());

}  // namespace ut::core
