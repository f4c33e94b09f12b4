#include <stdexcept>

#include "core/kernels/gpu_rows.h"

namespace ut::core {
namespace {

[[noreturn]] void not_there() { throw std::logic_error("a build without CUDA has no row kernels for it"); }

}  // namespace

bool has_gpu_rows(at::Device) { return false; }

at::Tensor gpu_dropout(const at::Tensor&, double, const DropoutDraw&, const RowIdentities&) { not_there(); }
at::Tensor gpu_dropout(const at::Tensor&, double, const DropoutDraw&, const WeightIdentities&) { not_there(); }
at::Tensor gpu_add_dropped(const at::Tensor&, const at::Tensor&, double, const DropoutDraw&, const RowIdentities&) {
  not_there();
}
void gpu_relu_dropout(const at::Tensor&, const at::Tensor&, double, const DropoutDraw&, const RowIdentities&) {
  not_there();
}
at::Tensor gpu_scale_where_positive(const at::Tensor&, const at::Tensor&, double) { not_there(); }
void gpu_normalised_sum(const at::Tensor&, const at::Tensor&, const at::Tensor&, const at::Tensor&, double, double,
                        const DropoutDraw&, const RowIdentities&, const NormalisedSum&) {
  not_there();
}
void gpu_normalised_sum_backward(const NormalisedSum&, const at::Tensor&, const at::Tensor&, const at::Tensor&,
                                 const at::Tensor&) {
  not_there();
}
void gpu_depthwise(const at::Tensor&, const at::Tensor&, const at::Tensor&, const at::Tensor&) { not_there(); }
void gpu_depthwise_kernel_gradient(const at::Tensor&, const at::Tensor&, const at::Tensor&, const at::Tensor&) {
  not_there();
}

}  // namespace ut::core
