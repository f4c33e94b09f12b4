#include "core/dropout.h"

#include <ATen/ATen.h>
#include <ATen/Dispatch.h>
#include <ATen/Parallel.h>

#include <algorithm>
#include <cmath>
#include <span>
#include <utility>

#include "base/philox.h"
#include "core/row_kernels.h"
#include "dist/differentiable.h"

namespace ut::core {
namespace {

struct RowIdentity {
  std::int64_t sequence;
  std::int64_t position;
  std::uint32_t head;
  std::size_t first_column;
};

/// `x` after dropout, the last dimension being a row's columns. On the host.
template <class Identity>
at::Tensor kept(const at::Tensor& x, double rate, const DropoutKey& key, const Identity& identity) {
  const at::Tensor source = x.contiguous();
  at::Tensor result = at::empty(source.sizes(), source.options());
  const std::int64_t columns = source.size(-1);
  const std::int64_t rows = columns == 0 ? 0 : source.numel() / columns;
  AT_DISPATCH_FLOATING_TYPES(source.scalar_type(), "dropout", [&] {
    const auto* from = source.const_data_ptr<scalar_t>();
    auto* to = result.mutable_data_ptr<scalar_t>();
    const auto scale = static_cast<scalar_t>(1 / (1 - rate));
    at::parallel_for(0, rows, rows_at_once(columns), [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t row = begin; row < end; ++row) {
        const RowIdentity of = identity(row);
        const RowDraw draw = row_draw(key, rate, of.sequence, of.position, of.head);
        const std::span columns_of_row(from + row * columns, static_cast<std::size_t>(columns));
        keep_columns(draw, of.first_column, columns_of_row, scale, to + row * columns);
      }
    });
  });
  return result;
}

/// The same where it can be learned through: the way back draws again, so that no mask is kept. On a device the mask is
/// made on the host.
template <class Identity>
at::Tensor drop(const at::Tensor& x, double rate, const DropoutKey& key, const Identity& identity) {
  if (!x.is_cpu())
    return x * kept(at::ones(x.sizes(), x.options().device(at::kCPU)), rate, key, identity).to(x.device());
  const auto there_and_back = [=](const at::Tensor& values) { return kept(values, rate, key, identity); };
  return dist::differentiable(x, there_and_back, there_and_back);
}

}  // namespace

DropoutKey DropoutKey::for_update(std::uint64_t seed, std::int64_t update) {
  return {base::mix(seed, static_cast<std::uint64_t>(update)), true, 0};
}

RowDraw row_draw(const DropoutKey& key, double rate, std::int64_t sequence, std::int64_t position, std::uint32_t head) {
  return {head,
          {static_cast<std::uint32_t>(position), static_cast<std::uint32_t>(sequence), key.place},
          key.update,
          static_cast<std::uint32_t>(std::lround(rate * 0x1p16))};
}

at::Tensor dropout(const at::Tensor& x, double rate, const DropoutKey& key, const dist::Rows& rows) {
  if (!key.active || rate == 0) return x;
  return drop(x, rate, key, [sequences = rows.sequence, positions = rows.position](std::int64_t row) {
    return RowIdentity{sequences.const_data_ptr<std::int64_t>()[row], positions.const_data_ptr<std::int64_t>()[row], 0,
                       0};
  });
}

at::Tensor dropout_attention(const at::Tensor& weights, double rate, const DropoutKey& key,
                             std::shared_ptr<const QueryIdentities> queries) {
  if (!key.active || rate == 0) return weights;
  return drop(weights, rate, key,
              [queries = std::move(queries), heads = weights.size(1), slots = weights.size(2),
               first_head = key.first_head](std::int64_t row) {
                const auto sequence = static_cast<std::size_t>(row / (heads * slots));
                const auto slot = sequence * static_cast<std::size_t>(slots) + static_cast<std::size_t>(row % slots);
                return RowIdentity{queries->sequence[slot], queries->position[slot],
                                   static_cast<std::uint32_t>(first_head + row / slots % heads),
                                   static_cast<std::size_t>(queries->first_key[sequence])};
              });
}

}  // namespace ut::core
