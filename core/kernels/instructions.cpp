#include "core/kernels/instructions.h"

namespace ut::core {

Instructions best_instructions() {
  static const Instructions best = [] {
    if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma")) return Instructions::plain;
    return __builtin_cpu_supports("avx512f") ? Instructions::avx512f : Instructions::avx2;
  }();
  return best;
}

}  // namespace ut::core
