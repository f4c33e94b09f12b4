#pragma once

namespace ut::core {

/// Sets of vector instructions that kernels are written for; each includes those before it.
enum class Instructions { plain, avx2, avx512f };

/// The best set that this processor has.
Instructions best_instructions();

}  // namespace ut::core
