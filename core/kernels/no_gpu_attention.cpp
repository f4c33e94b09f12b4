#include <stdexcept>

#include "core/kernels/gpu_attention.h"

namespace ut::core {
namespace {

[[noreturn]] void not_there() { throw std::logic_error("a build without CUDA has no kernels of attention for it"); }

}  // namespace

bool has_gpu_attention(at::Device, at::ScalarType, std::int64_t) { return false; }

void gpu_attend(const at::Tensor&, const at::Tensor&, const TiledSpans&, const AttentionSite&, bool, const at::Tensor&,
                const at::Tensor&) {
  not_there();
}
void gpu_attend_backward(const at::Tensor&, const at::Tensor&, const TiledSpans&, const AttentionSite&,
                         const at::Tensor&, const at::Tensor&, const at::Tensor&, const GradientOfRows&,
                         const GradientOfRows&) {
  not_there();
}

}  // namespace ut::core
