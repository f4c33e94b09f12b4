#include <ATen/Dispatch.h>
#include <ATen/ops/empty.h>
#include <c10/cuda/CUDAException.h>
#include <c10/cuda/CUDAGuard.h>
#include <c10/cuda/CUDAStream.h>

#include "core/kernels/attention_blocks.h"
#include "core/kernels/gpu_attention.h"

namespace ut::core {
namespace {

template <class Blocks>
__global__ void __launch_bounds__(threads_of_tile) run_blocks(Blocks blocks) {
  extern __shared__ __align__(sizeof(Four<double>)) unsigned char memory[];
  auto& shared = *reinterpret_cast<typename Blocks::Shared*>(memory);
  typename Blocks::Registers registers;
  const std::int64_t last = blocks.stages(blockIdx.x) - 1;
  for (std::int64_t stage = 0; stage <= last; ++stage) {
    blocks.run(blockIdx.x, stage, last, threadIdx.x, registers, shared);
    __syncthreads();
  }
}

/// A function that launches work for blocks of threads on a device.
auto launcher_on(at::Device device) {
  return [device](const auto& blocks) {
    using Blocks = std::decay_t<decltype(blocks)>;
    if (blocks.blocks() == 0) return;
    const c10::cuda::CUDAGuard guard(device);
    constexpr auto bytes = static_cast<int>(sizeof(typename Blocks::Shared));
    C10_CUDA_CHECK(cudaFuncSetAttribute(run_blocks<Blocks>, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes));
    run_blocks<Blocks><<<static_cast<unsigned>(blocks.blocks()), threads_of_tile, bytes,
                         c10::cuda::getCurrentCUDAStream(device.index())>>>(blocks);
    C10_CUDA_KERNEL_LAUNCH_CHECK();
  };
}

/// The shared memory of the block that needs the most.
template <class Number>
std::int64_t shared_bytes(std::int64_t columns) {
  std::int64_t bytes = 0;
  with_head_columns<Number>(columns, [&bytes](auto max_columns) {
    bytes = sizeof(typename AttentionBackwardToQueries<Number, Number, max_columns>::Shared);
    static_assert(sizeof(typename AttentionBackwardToKeys<Number, Number, max_columns>::Shared) <=
                  sizeof(typename AttentionBackwardToQueries<Number, Number, max_columns>::Shared));
  });
  return bytes;
}

}  // namespace

bool has_gpu_attention(at::Device device, at::ScalarType type, std::int64_t columns_of_head) {
  if (!device.is_cuda()) return false;
  int shared_memory = 0;
  C10_CUDA_CHECK(cudaDeviceGetAttribute(&shared_memory, cudaDevAttrMaxSharedMemoryPerBlockOptin, device.index()));
  if (type == at::kDouble)
    return columns_of_head <= most_head_columns<double> && shared_bytes<double>(columns_of_head) <= shared_memory;
  return type == at::kFloat && columns_of_head <= most_head_columns<float> &&
         shared_bytes<float>(columns_of_head) <= shared_memory;
}

void gpu_attend(const at::Tensor& query, const at::Tensor& keys_values, const TiledSpans& spans,
                const AttentionSite& site, bool has_earlier_keys, const at::Tensor& output, const at::Tensor& log_sum) {
  AT_DISPATCH_FLOATING_TYPES_AND(at::kBFloat16, query.scalar_type(), "attention", [&] {
    attend_by_blocks<scalar_t>(query, keys_values, spans, site, has_earlier_keys, output, log_sum,
                               launcher_on(query.device()));
  });
}

void gpu_attend_backward(const at::Tensor& query, const at::Tensor& keys_values, const TiledSpans& spans,
                         const AttentionSite& site, const at::Tensor& output, const at::Tensor& log_sum,
                         const at::Tensor& gradient, const GradientOfRows& query_gradient,
                         const GradientOfRows& keys_values_gradient) {
  const at::Tensor mean = at::empty(log_sum.sizes(), log_sum.options());
  AT_DISPATCH_FLOATING_TYPES_AND(at::kBFloat16, query.scalar_type(), "attention_backward", [&] {
    attend_backward_by_blocks<scalar_t>(query, keys_values, spans, site, output, log_sum, gradient, mean,
                                        query_gradient, keys_values_gradient, launcher_on(query.device()));
  });
}

}  // namespace ut::core
