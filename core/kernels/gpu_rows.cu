#include <ATen/Dispatch.h>
#include <ATen/ops/empty.h>
#include <c10/cuda/CUDAException.h>
#include <c10/cuda/CUDAGuard.h>
#include <c10/cuda/CUDAStream.h>

#include "core/kernels/depthwise_threads.h"
#include "core/kernels/gpu_rows.h"
#include "core/kernels/row_teams.h"

namespace ut::core {
namespace {

constexpr int threads_of_block = 256;

constexpr int teams_of_block = threads_of_block / threads_of_team;

template <class Threads>
__global__ void run(Threads threads) {
  const std::int64_t thread = static_cast<std::int64_t>(blockIdx.x) * threads_of_block + threadIdx.x;
  if (thread < threads.threads()) threads.run(thread);
}

template <class Teams>
__global__ void run_stages(Teams teams) {
  __shared__ typename Teams::Sums sums[teams_of_block];
  const int team = threadIdx.x / threads_of_team;
  const std::int64_t row = static_cast<std::int64_t>(blockIdx.x) * teams_of_block + team;
  for (int stage = 0; stage < Teams::stages; ++stage) {
    if (row < teams.rows) teams.run(stage, row, threadIdx.x % threads_of_team, sums[team]);
    __syncthreads();
  }
}

/// Launches as many blocks as `count` threads or teams need, with `of_block` of them in a block.
template <class Work>
void launch_blocks(void (*kernel)(Work), const Work& work, std::int64_t count, std::int64_t of_block,
                   at::Device device) {
  const std::int64_t blocks = (count + of_block - 1) / of_block;
  if (blocks == 0) return;
  const c10::cuda::CUDAGuard guard(device);
  kernel<<<static_cast<unsigned>(blocks), threads_of_block, 0, c10::cuda::getCurrentCUDAStream(device.index())>>>(work);
  C10_CUDA_KERNEL_LAUNCH_CHECK();
}

template <class Threads>
void launch(const Threads& threads, at::Device device) {
  launch_blocks(run<Threads>, threads, threads.threads(), threads_of_block, device);
}

/// Launches a team for each row.
template <class Teams>
void launch_teams(const Teams& teams, at::Device device) {
  launch_blocks(run_stages<Teams>, teams, teams.rows, teams_of_block, device);
}

/// Calls `element` for all elements of `like`, whose last dimension is a row's columns.
template <class Identities, class Element>
void launch_dropout(const at::Tensor& like, const DropoutDraw& draw, const Identities& identities,
                    const Element& element) {
  const std::int64_t columns = like.size(-1);
  const std::int64_t rows = columns == 0 ? 0 : like.numel() / columns;
  launch(DropoutThreads<Identities, Element>{draw, identities, element, rows, columns}, like.device());
}

template <class Number>
Number scale_for(double rate) {
  return static_cast<Number>(1 / (1 - rate));
}

template <class Identities>
at::Tensor dropout_of(const at::Tensor& x, double rate, const DropoutDraw& draw, const Identities& identities) {
  at::Tensor result = at::empty(x.sizes(), x.options());
  AT_DISPATCH_FLOATING_TYPES(x.scalar_type(), "dropout", [&] {
    const Keep<scalar_t> keep{x.const_data_ptr<scalar_t>(), scale_for<scalar_t>(rate),
                              result.mutable_data_ptr<scalar_t>()};
    launch_dropout(x, draw, identities, keep);
  });
  return result;
}

}  // namespace

bool has_gpu_rows(at::Device device) { return device.is_cuda(); }

at::Tensor gpu_dropout(const at::Tensor& x, double rate, const DropoutDraw& draw, const RowIdentities& identities) {
  return dropout_of(x, rate, draw, identities);
}

at::Tensor gpu_dropout(const at::Tensor& x, double rate, const DropoutDraw& draw, const WeightIdentities& identities) {
  return dropout_of(x, rate, draw, identities);
}

at::Tensor gpu_add_dropped(const at::Tensor& x, const at::Tensor& y, double rate, const DropoutDraw& draw,
                           const RowIdentities& identities) {
  at::Tensor result = at::empty(x.sizes(), x.options());
  AT_DISPATCH_FLOATING_TYPES(x.scalar_type(), "add_dropped", [&] {
    const AddKept<scalar_t> add{x.const_data_ptr<scalar_t>(), y.const_data_ptr<scalar_t>(), scale_for<scalar_t>(rate),
                                result.mutable_data_ptr<scalar_t>()};
    launch_dropout(x, draw, identities, add);
  });
  return result;
}

void gpu_relu_dropout(const at::Tensor& x, const at::Tensor& bias, double rate, const DropoutDraw& draw,
                      const RowIdentities& identities) {
  AT_DISPATCH_FLOATING_TYPES(x.scalar_type(), "relu_dropout", [&] {
    const ReluKeep<scalar_t> keep{x.mutable_data_ptr<scalar_t>(), bias.const_data_ptr<scalar_t>(),
                                  scale_for<scalar_t>(rate)};
    launch_dropout(x, draw, identities, keep);
  });
}

at::Tensor gpu_scale_where_positive(const at::Tensor& output, const at::Tensor& gradient, double scale) {
  at::Tensor result = at::empty(gradient.sizes(), gradient.options());
  AT_DISPATCH_FLOATING_TYPES(gradient.scalar_type(), "relu_dropout_backward", [&] {
    const ScaleWherePositiveThreads<scalar_t> threads{output.const_data_ptr<scalar_t>(),
                                                      gradient.const_data_ptr<scalar_t>(), static_cast<scalar_t>(scale),
                                                      result.mutable_data_ptr<scalar_t>(), gradient.numel()};
    launch(threads, gradient.device());
  });
  return result;
}

void gpu_normalised_sum(const at::Tensor& x, const at::Tensor& y, const at::Tensor& scale, const at::Tensor& bias,
                        double epsilon, double rate, const DropoutDraw& draw, const RowIdentities& identities,
                        const NormalisedSum& made) {
  AT_DISPATCH_FLOATING_TYPES(x.scalar_type(), "normalised_sum", [&] {
    auto* normalised = made.normalised.mutable_data_ptr<scalar_t>();
    const AddKept<scalar_t> add{x.const_data_ptr<scalar_t>(), y.const_data_ptr<scalar_t>(), scale_for<scalar_t>(rate),
                                normalised};
    const NormalisedSumTeams<scalar_t> teams{{draw, identities, add, x.size(0), x.size(1)},
                                             scale.const_data_ptr<scalar_t>(),
                                             bias.const_data_ptr<scalar_t>(),
                                             static_cast<scalar_t>(epsilon),
                                             made.output.mutable_data_ptr<scalar_t>(),
                                             normalised,
                                             made.factor.mutable_data_ptr<scalar_t>(),
                                             x.size(0),
                                             x.size(1)};
    launch_teams(teams, x.device());
  });
}

void gpu_normalised_sum_backward(const NormalisedSum& made, const at::Tensor& scale, const at::Tensor& gradient,
                                 const at::Tensor& of_sum, const at::Tensor& partial) {
  const std::int64_t rows = gradient.size(0);
  const std::int64_t columns = gradient.size(1);
  AT_DISPATCH_FLOATING_TYPES(gradient.scalar_type(), "normalised_sum_backward", [&] {
    const auto* normalised = made.normalised.const_data_ptr<scalar_t>();
    const auto* given = gradient.const_data_ptr<scalar_t>();
    const NormalisedSumBackwardTeams<scalar_t> teams{
        normalised, made.factor.const_data_ptr<scalar_t>(), scale.const_data_ptr<scalar_t>(),
        given,      of_sum.mutable_data_ptr<scalar_t>(),    rows,
        columns};
    launch_teams(teams, gradient.device());
    const ScaleAndBiasThreads<scalar_t> threads{normalised, given,   partial.mutable_data_ptr<scalar_t>(),
                                                rows,       columns, rows_summed_at_once};
    launch(threads, gradient.device());
  });
}

void gpu_depthwise(const at::Tensor& known, const at::Tensor& table, const at::Tensor& kernel,
                   const at::Tensor& result) {
  AT_DISPATCH_FLOATING_TYPES(known.scalar_type(), "depthwise", [&] {
    const DepthwiseThreads<scalar_t> threads{known.const_data_ptr<scalar_t>(),
                                             table.const_data_ptr<std::int64_t>(),
                                             kernel.const_data_ptr<scalar_t>(),
                                             result.mutable_data_ptr<scalar_t>(),
                                             table.size(0),
                                             table.size(1),
                                             known.size(1)};
    launch(threads, known.device());
  });
}

void gpu_depthwise_kernel_gradient(const at::Tensor& known, const at::Tensor& table, const at::Tensor& gradient,
                                   const at::Tensor& partial) {
  AT_DISPATCH_FLOATING_TYPES(known.scalar_type(), "depthwise_backward", [&] {
    const DepthwiseKernelThreads<scalar_t> threads{known.const_data_ptr<scalar_t>(),
                                                   table.const_data_ptr<std::int64_t>(),
                                                   gradient.const_data_ptr<scalar_t>(),
                                                   partial.mutable_data_ptr<scalar_t>(),
                                                   table.size(0),
                                                   table.size(1),
                                                   known.size(1),
                                                   rows_summed_at_once};
    launch(threads, known.device());
  });
}

}  // namespace ut::core
