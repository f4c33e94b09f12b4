#include "core/kernels/varlen_attention.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>

#include <tuple>

#include "dist/on_device.h"
#include "dist/select_rows.h"

namespace ut::core {
namespace {

constexpr std::int64_t most_sequences = 65535;    // the limit of a grid's third dimension
constexpr std::int64_t most_flash_columns = 192;  // with more, GPUs with 99 KiB per block have no backward pass
constexpr std::int64_t aligned_bytes = 16;        // a head begins at a multiple of this

/// The numbers that _efficient_attention_forward has for masks.
enum class Mask : std::int64_t { none, causal_from_top_left };

bool have_sequences(const dist::Rows& rows) {
  for (std::size_t index = 1; index < rows.offsets.size(); ++index)
    if (rows.offsets[index] == rows.offsets[index - 1]) return false;
  return rows.sequences() > 0;
}

at::Tensor offsets_on(at::Device device, const dist::Rows& rows) {
  return dist::on_device(at::tensor(rows.offsets, at::kInt), device);
}

}  // namespace

VarlenKernel varlen_kernel(at::Device device, at::ScalarType type, std::int64_t columns_of_head, bool drops_weights) {
  const bool is_half = type == at::kBFloat16;
  const bool is_known = is_half || type == at::kFloat;
  if (!device.is_cuda() || drops_weights || !is_known) return VarlenKernel::none;
  if (columns_of_head * static_cast<std::int64_t>(at::elementSize(type)) % aligned_bytes != 0)
    return VarlenKernel::none;
  return is_half && columns_of_head <= most_flash_columns ? VarlenKernel::flash : VarlenKernel::memory_efficient;
}

bool fits_varlen(const dist::Rows& queries, const dist::Rows& keys, bool causal) {
  if (!have_sequences(queries) || !have_sequences(keys) || queries.sequences() > most_sequences) return false;
  return !causal || (queries.offsets == keys.offsets && queries.position.equal(keys.position));
}

VarlenAttention::VarlenAttention(const dist::Rows& queries, const dist::Rows& keys, bool causal, at::Device device,
                                 const KeyRows& key_rows)
    : causal_(causal),
      most_queries_(dist::longest(queries)),
      most_keys_(dist::longest(keys)),
      query_offsets_(offsets_on(device, queries)),
      key_offsets_(offsets_on(device, keys)),
      keys_(keys.count()) {
  if (!key_rows.in_order()) key_rows_ = dist::on_device(key_rows.numbers(), device);
}

at::Tensor VarlenAttention::attend(const at::Tensor& query, const at::Tensor& keys_values, std::int64_t heads,
                                   VarlenKernel kernel) const {
  const std::int64_t d = query.size(1);
  at::Tensor seen = keys_values;
  if (key_rows_.defined())
    seen = dist::select_rows(keys_values, key_rows_);
  else if (keys_values.size(0) > keys_)
    seen = keys_values.narrow(0, 0, keys_);
  const at::Tensor q = query.unflatten(1, {heads, d / heads});                      // [query rows, heads, d / heads]
  const auto keys_and_values = seen.unflatten(1, {2, heads, d / heads}).unbind(1);  // each [key rows, heads, d / heads]
  const at::Tensor& k = keys_and_values[0];
  const at::Tensor& v = keys_and_values[1];
  if (kernel == VarlenKernel::flash)
    return std::get<0>(at::_flash_attention_forward(q, k, v, query_offsets_, key_offsets_, most_queries_, most_keys_,
                                                    /*dropout_p=*/0, causal_, /*return_debug_mask=*/false))
        .flatten(1);
  const Mask mask = causal_ ? Mask::causal_from_top_left : Mask::none;
  return std::get<0>(at::_efficient_attention_forward(q.unsqueeze(0), k.unsqueeze(0), v.unsqueeze(0), /*bias=*/{},
                                                      query_offsets_, key_offsets_, most_queries_, most_keys_,
                                                      /*dropout_p=*/0, static_cast<std::int64_t>(mask),
                                                      /*compute_log_sumexp=*/at::GradMode::is_enabled()))
      .squeeze(0)
      .flatten(1);
}

}  // namespace ut::core
