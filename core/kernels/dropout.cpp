#include "core/kernels/dropout.h"

#include <ATen/ATen.h>
#include <ATen/Dispatch.h>
#include <ATen/Parallel.h>

#include <cmath>
#include <span>
#include <utility>

#include "base/philox.h"
#include "core/kernels/gpu_rows.h"
#include "core/kernels/keep_columns.h"
#include "core/kernels/row_kernels.h"
#include "dist/differentiable.h"

namespace ut::core {
namespace {

/// `x` after dropout, the last dimension being a row's columns. On the host.
template <class Identities>
at::Tensor kept_on_host(const at::Tensor& x, double rate, const DropoutDraw& draw, const Identities& identities) {
  at::Tensor result = at::empty(x.sizes(), x.options());
  const std::int64_t columns = x.size(-1);
  const std::int64_t rows = columns == 0 ? 0 : x.numel() / columns;
  AT_DISPATCH_FLOATING_TYPES(x.scalar_type(), "dropout", [&] {
    const auto* from = x.const_data_ptr<scalar_t>();
    auto* to = result.mutable_data_ptr<scalar_t>();
    const auto scale = static_cast<scalar_t>(1 / (1 - rate));
    at::parallel_for(0, rows, rows_at_once(columns), [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t row = begin; row < end; ++row) {
        const DrawnRow of = identities.of(row, draw);
        const std::span columns_of_row(from + row * columns, static_cast<std::size_t>(columns));
        keep_columns(of.draw, static_cast<std::size_t>(of.first_column), columns_of_row, scale, to + row * columns);
      }
    });
  });
  return result;
}

/// The same, differentiable: the backward pass draws again, so that no mask is kept. For a device without row kernels
/// the mask is made on the host. `identities_on(device)`: identities in tables that can be read there.
template <class IdentitiesOn>
at::Tensor drop(const at::Tensor& x, double rate, const DropoutKey& key, const IdentitiesOn& identities_on) {
  const auto forward_and_backward = [=, draw = dropout_draw(key, rate)](const at::Tensor& values) {
    const auto identities = identities_on(values.device());
    return values.is_cpu() ? kept_on_host(values.contiguous(), rate, draw, identities)
                           : gpu_dropout(values.contiguous(), rate, draw, identities);
  };
  if (x.is_cpu() || has_gpu_rows(x.device()))
    return dist::differentiable(x, forward_and_backward, forward_and_backward);
  return x * forward_and_backward(at::ones(x.sizes(), x.options().device(at::kCPU))).to(x.device());
}

}  // namespace

DropoutKey DropoutKey::for_update(std::uint64_t seed, std::int64_t update) {
  return {base::mix(seed, static_cast<std::uint64_t>(update)), true, 0};
}

DropoutDraw dropout_draw(const DropoutKey& key, double rate) {
  return {0, {0, 0, key.place}, key.update, static_cast<std::uint32_t>(std::lround(rate * 0x1p16))};
}

RowIdentities identities_of(const dist::Rows& rows, at::Device device) {
  if (device.is_cpu())
    return {rows.sequence.const_data_ptr<std::int64_t>(), rows.position.const_data_ptr<std::int64_t>()};
  const auto* table = rows.identities_on(device).const_data_ptr<std::int64_t>();
  return {table, table + rows.count()};
}

at::Tensor dropout(const at::Tensor& x, double rate, const DropoutKey& key, const dist::Rows& rows) {
  if (!key.active || rate == 0) return x;
  return drop(x, rate, key, [rows](at::Device device) { return identities_of(rows, device); });
}

at::Tensor dropout_attention(const at::Tensor& weights, double rate, const DropoutKey& key,
                             std::shared_ptr<const QueryIdentities> queries) {
  if (!key.active || rate == 0) return weights;
  return drop(
      weights, rate, key,
      [queries = std::move(queries), heads = weights.size(1), slots = weights.size(2),
       first_head = key.first_head](at::Device device) {
        if (device.is_cpu())
          return WeightIdentities{
              queries->sequence.data(), queries->position.data(), queries->first_key.data(), heads, slots, first_head};
        const auto* table = queries->on_device.const_data_ptr<std::int64_t>();
        const std::size_t rows = queries->sequence.size();
        return WeightIdentities{table, table + rows, table + 2 * rows, heads, slots, first_head};
      });
}

}  // namespace ut::core
