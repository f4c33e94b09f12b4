#pragma once

#include <ATen/core/Tensor.h>

#include <cmath>
#include <type_traits>

#include "core/kernels/attention_backward.h"
#include "core/kernels/attention_forward.h"
#include "core/kernels/attention_site.h"
#include "core/kernels/gpu_attention.h"
#include "core/kernels/tiled_spans.h"

// The functions of core/kernels/gpu_attention.h as work for blocks of threads. Kernels run it and, on the host, tests.
namespace ut::core {

/// Calls visit() with an integral constant: the smallest max_columns that blocks are compiled for and that is at least
/// `columns`, those of a head.
template <class Number, class Visit>
void with_head_columns(std::int64_t columns, const Visit& visit) {
  if (columns <= 32) return visit(std::integral_constant<int, 32>());
  if (columns <= 64) return visit(std::integral_constant<int, 64>());
  if constexpr (most_head_columns < Number >> 64) visit(std::integral_constant<int, 128>());
}

/// The type in which numbers of type `Input` are computed with: dist::accumulation_type().
template <class Input>
struct AccumulationOf {
  using Type = Input;
};
template <>
struct AccumulationOf<at::BFloat16> {
  using Type = float;
};

template <class Number>
TileRows<const Number> tile_rows(const at::Tensor& rows, std::int64_t first = 0) {
  return {rows.const_data_ptr<Number>() + first, rows.stride(0)};
}
template <class Number>
TileRows<Number> tile_rows_to_fill(const at::Tensor& rows, std::int64_t first = 0) {
  return {rows.mutable_data_ptr<Number>() + first, rows.stride(0)};
}

/// Whether heads of `columns` columns begin, in all rows, at addresses where four numbers can be read at once.
template <class Input>
bool is_in_fours(const at::Tensor& rows, std::int64_t columns) {
  const auto address = reinterpret_cast<std::uintptr_t>(rows.const_data_ptr<Input>());
  return address % sizeof(Four<Input>) == 0 && rows.stride(0) % 4 == 0 && columns % 4 == 0;
}

template <class Number, class Input, int max_columns>
AttentionTiles<Number, Input, max_columns> attention_tiles(const at::Tensor& query, const at::Tensor& keys_values,
                                                           const TiledSpans& spans, const AttentionSite& site) {
  const double rate = site.dropout.active ? site.dropout_rate : 0;
  const std::int64_t columns = query.size(1) / site.heads;
  return {.tables = spans.tables(),
          .query_rows = tile_rows<Input>(query),
          .key_rows = tile_rows<Input>(keys_values),
          .value_rows = tile_rows<Input>(keys_values, query.size(1)),
          .heads = site.heads,
          .columns = columns,
          .scale = static_cast<Number>(1 / std::sqrt(static_cast<double>(columns))),
          .draw = dropout_draw(site.dropout, rate),
          .first_head = site.dropout.first_head,
          .kept_scale = static_cast<Number>(1 / (1 - rate)),
          .in_fours = is_in_fours<Input>(query, columns) && is_in_fours<Input>(keys_values, columns)};
}

/// gpu_attend(), by calling run(blocks).
template <class Input, class Run>
void attend_by_blocks(const at::Tensor& query, const at::Tensor& keys_values, const TiledSpans& spans,
                      const AttentionSite& site, bool has_earlier_keys, const at::Tensor& output,
                      const at::Tensor& log_sum, const Run& run) {
  using Number = typename AccumulationOf<Input>::Type;
  with_head_columns<Number>(query.size(1) / site.heads, [&](auto max_columns) {
    run(AttentionForward<Number, Input, max_columns>{
        .tiles = attention_tiles<Number, Input, max_columns>(query, keys_values, spans, site),
        .output = tile_rows_to_fill<Number>(output),
        .log_sum = tile_rows_to_fill<Number>(log_sum),
        .has_earlier_keys = has_earlier_keys,
        .query_tiles = spans.query_tiles()});
  });
}

/// gpu_attend_backward(), by calling run(blocks) twice; all of the first blocks must finish before the others start.
/// `mean` [query rows, heads] is filled.
template <class Input, class Run>
void attend_backward_by_blocks(const at::Tensor& query, const at::Tensor& keys_values, const TiledSpans& spans,
                               const AttentionSite& site, const at::Tensor& output, const at::Tensor& log_sum,
                               const at::Tensor& gradient, const at::Tensor& mean, const GradientOfRows& query_gradient,
                               const GradientOfRows& keys_values_gradient, const Run& run) {
  using Number = typename AccumulationOf<Input>::Type;
  with_head_columns<Number>(query.size(1) / site.heads, [&](auto max_columns) {
    auto tiles = attention_tiles<Number, Input, max_columns>(query, keys_values, spans, site);
    tiles.in_fours = tiles.in_fours && is_in_fours<Input>(gradient, tiles.columns);
    run(AttentionBackwardToQueries<Number, Input, max_columns>{
        .tiles = tiles,
        .output = tile_rows<Number>(output),
        .log_sum = tile_rows<Number>(log_sum),
        .gradient = tile_rows<Input>(gradient),
        .mean = tile_rows_to_fill<Number>(mean),
        .query_gradient = tile_rows_to_fill<Number>(query_gradient.rows),
        .query_filled = query_gradient.accumulates,
        .query_tiles = spans.query_tiles()});
    run(AttentionBackwardToKeys<Number, Input, max_columns>{
        .tiles = tiles,
        .log_sum = tile_rows<Number>(log_sum),
        .gradient = tile_rows<Input>(gradient),
        .mean = tile_rows<Number>(mean),
        .key_gradient = tile_rows_to_fill<Number>(keys_values_gradient.rows),
        .value_gradient = tile_rows_to_fill<Number>(keys_values_gradient.rows, query.size(1)),
        .keys_filled = keys_values_gradient.accumulates,
        .key_tiles = spans.key_tiles()});
  });
}

}  // namespace ut::core
