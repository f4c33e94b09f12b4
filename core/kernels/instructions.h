#pragma once

namespace ut::core {

/// Sets of vector instructions that kernels are written for, each with those before it.
enum class Instructions { plain, avx2, avx512f };

/// Of those that this processor has.
Instructions best_instructions();

}  // namespace ut::core
