#pragma once

#include <ATen/core/Tensor.h>

#include "core/kernels/normalised_sum.h"
#include "core/kernels/row_threads.h"

/// Row kernels on CUDA devices, on the current stream, for float32 and float64: the same draws as on the host and,
/// unless a function says otherwise, the same bits. Tensors are contiguous, the tables of identities on their device.
/// `draw` is not bound to a row yet (see dropout_draw()).
namespace ut::core {

/// Whether rows on this device have kernels: has_gpu_rows() those here, in a build with CUDA; has_row_kernels() those
/// here or the host's.
bool has_gpu_rows(at::Device device);
inline bool has_row_kernels(at::Device device) { return device.is_cpu() || has_gpu_rows(device); }

/// dropout(x); the last dimension of `x` is a row's columns.
at::Tensor gpu_dropout(const at::Tensor& x, double rate, const DropoutDraw& draw, const RowIdentities& identities);
at::Tensor gpu_dropout(const at::Tensor& x, double rate, const DropoutDraw& draw, const WeightIdentities& identities);

/// x + dropout(y), both [rows, columns].
at::Tensor gpu_add_dropped(const at::Tensor& x, const at::Tensor& y, double rate, const DropoutDraw& draw,
                           const RowIdentities& identities);

/// Overwrites `x` [rows, columns] with dropout(relu(x + bias)).
void gpu_relu_dropout(const at::Tensor& x, const at::Tensor& bias, double rate, const DropoutDraw& draw,
                      const RowIdentities& identities);

/// `gradient` where `output` is positive, times `scale`; 0 elsewhere.
at::Tensor gpu_scale_where_positive(const at::Tensor& output, const at::Tensor& gradient, double scale);

/// Fills `made` like normalised_sum(), with sums in another order than on the host.
void gpu_normalised_sum(const at::Tensor& x, const at::Tensor& y, const at::Tensor& scale, const at::Tensor& bias,
                        double epsilon, double rate, const DropoutDraw& draw, const RowIdentities& identities,
                        const NormalisedSum& made);
/// Fills `of_sum` [rows, d], and `partial` [rows / rows_summed_at_once, rounded up, 2, d] with partial sums of the
/// gradients of scale and bias.
void gpu_normalised_sum_backward(const NormalisedSum& made, const at::Tensor& scale, const at::Tensor& gradient,
                                 const at::Tensor& of_sum, const at::Tensor& partial);

/// Fills `result` [rows, columns] with the convolution of core/kernels/depthwise.h over the `known` rows that `table`
/// [rows, width] names. Here and in the next function, products are rounded before they are added, which the host need
/// not do.
void gpu_depthwise(const at::Tensor& known, const at::Tensor& table, const at::Tensor& kernel,
                   const at::Tensor& result);
/// Fills `partial` [rows / rows_summed_at_once, rounded up, width, columns] with partial sums of the kernel's gradient.
void gpu_depthwise_kernel_gradient(const at::Tensor& known, const at::Tensor& table, const at::Tensor& gradient,
                                   const at::Tensor& partial);

}  // namespace ut::core
