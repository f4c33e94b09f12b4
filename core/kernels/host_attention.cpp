#include "core/kernels/host_attention.h"

#include <ATen/Dispatch.h>
#include <ATen/Parallel.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <memory>
#include <span>
#include <vector>

#include "core/kernels/gemm.h"
#include "core/kernels/keep_columns.h"
#include "core/kernels/row_kernels.h"

namespace ut::core {
namespace {

template <class Number>
MatrixRows<const Number> columns_of(const at::Tensor& rows, std::int64_t first) {
  return {rows.const_data_ptr<Number>() + first, rows.stride(0)};
}
template <class Number>
MatrixRows<Number> columns_to_fill(const at::Tensor& rows, std::int64_t first) {
  return {rows.mutable_data_ptr<Number>() + first, rows.stride(0)};
}

/// The distance, in numbers, from one query's weights to the next's for this many keys.
std::int64_t row_room(std::int64_t keys) {
  return static_cast<std::int64_t>(whole_vectors(static_cast<std::size_t>(keys)));
}

/// Some of one sequence's blocks of queries, in one head: every `parts`-th block, so that under a causal mask all parts
/// have about as much work.
struct Share {
  struct Pair {
    std::size_t sequence;
    std::int64_t head;
  } pair;
  std::int64_t part;
  std::int64_t parts;
};

/// What the forward and the backward pass have in common: they go through the weights of one sequence's queries in one
/// head, a block of queries at a time.
class WeightBlocks {
 public:
  WeightBlocks(const RowSpans& spans, const AttentionSite& site, std::int64_t columns)
      : spans_(spans),
        site_(site),
        rate_(site.dropout.active ? site.dropout_rate : 0),
        draw_(dropout_draw(site.dropout, rate_)),
        columns_(columns) {}

  /// Into how many parts the queries of a sequence are split: enough to give every thread a share if there are fewer
  /// pairs of sequence and head than threads.
  std::int64_t parts() const {
    std::int64_t longest = 0;
    for (const base::Span& queries : spans_.queries) longest = std::max(longest, queries.end - queries.begin);
    const std::int64_t blocks = (longest + queries_at_once - 1) / queries_at_once;
    if (pairs() == 0 || blocks == 0) return 1;
    return std::min(blocks, (at::get_num_threads() + pairs() - 1) / pairs());
  }

  /// Calls visit(share, room for `buffers` blocks of weights) once for each share, on any thread.
  template <class Number, class Visit>
  void for_each_share(std::int64_t parts, std::int64_t buffers, const Visit& visit) const {
    std::int64_t longest = 0;
    for (const KeySpan& keys : spans_.keys) longest = std::max(longest, keys.count);
    const auto room = static_cast<std::size_t>(buffers * queries_at_once * row_room(std::max(longest, columns_)));
    at::parallel_for(0, pairs() * parts, 1, [&](std::int64_t begin, std::int64_t end) {
      const auto scratch = std::make_unique_for_overwrite<Number[]>(room);
      for (std::int64_t share = begin; share < end; ++share) {
        const std::int64_t pair = share / parts;
        visit(Share{{static_cast<std::size_t>(pair / site_.heads), pair % site_.heads}, share % parts, parts},
              scratch.get());
      }
    });
  }

  /// Calls visit(first query row, number of queries, number of keys that any of them sees) for each block.
  template <class Visit>
  void for_each_block(const Share& share, const Visit& visit) const {
    const base::Span queries = spans_.queries[share.pair.sequence];
    for (std::int64_t first = queries.begin + share.part * queries_at_once; first < queries.end;
         first += share.parts * queries_at_once) {
      const std::int64_t count = std::min(queries_at_once, queries.end - first);
      visit(first, count, visible_keys(share.pair.sequence, first + count - 1));  // positions ascend
    }
  }

  std::int64_t visible_keys(std::size_t sequence, std::int64_t row) const {
    const KeySpan& keys = spans_.keys[sequence];
    if (!spans_.causal) return keys.count;
    const std::int64_t position = spans_.position[static_cast<std::size_t>(row)];
    std::int64_t visible = 0;
    for (const KeySpan::Run& run : keys.runs)
      visible += std::clamp<std::int64_t>(position + 1 - run.position, 0, run.count);
    return visible;
  }

  bool drops() const { return rate_ > 0; }

  /// Dropout on a query's weights [count]; `kept` may be `weights`.
  template <class Number>
  void keep(std::size_t sequence, std::int64_t row, std::int64_t head, const Number* weights, std::int64_t count,
            Number* kept) const {
    const auto number = static_cast<std::size_t>(row);
    const DropoutDraw draw = draw_.of_row(spans_.sequence[number], spans_.position[number],
                                          static_cast<std::uint32_t>(site_.dropout.first_head + head));
    for (const KeySpan::Run& run : spans_.keys[sequence].runs) {
      if (run.first >= count) return;
      const std::span<const Number> seen(weights + run.first,
                                         static_cast<std::size_t>(std::min(run.count, count - run.first)));
      keep_columns(draw, static_cast<std::size_t>(run.position), seen, static_cast<Number>(1 / (1 - rate_)),
                   kept + run.first);
    }
  }

  /// Turns a query's logits, in `weights`, into its weights; `dropped` becomes the weights after dropout (it is
  /// `weights` if there is none). Both are [seen], the keys that any query of the block sees; keys that this one does
  /// not see get 0.
  template <class Number>
  void make_again(std::size_t sequence, std::int64_t row, std::int64_t head, Number log_sum, std::int64_t seen,
                  Number* weights, Number* dropped) const {
    const std::int64_t visible = visible_keys(sequence, row);
    exponentials(weights, static_cast<std::size_t>(visible), log_sum);
    std::fill(weights + visible, weights + seen, Number{0});
    if (!drops()) return;
    keep(sequence, row, head, weights, visible, dropped);
    std::fill(dropped + visible, dropped + seen, Number{0});
  }

  template <class Number>
  Number scale() const {
    return static_cast<Number>(1 / std::sqrt(static_cast<double>(columns_)));
  }

 private:
  std::int64_t pairs() const { return static_cast<std::int64_t>(spans_.keys.size()) * site_.heads; }

  const RowSpans& spans_;
  const AttentionSite& site_;
  double rate_;
  DropoutDraw draw_;
  std::int64_t columns_;  // of a head
};

/// The rows of one sequence's keys: from keys.row on, every keys.stride-th.
template <class Rows>
auto of_keys(const Rows& rows, const KeySpan& keys) {
  return Rows{rows.row(keys.row), rows.stride * keys.stride};
}

template <class Number>
constexpr Number log_of_empty_sum = -std::numeric_limits<Number>::infinity();

/// Merges `part` and log_sum_of_part, over some keys, into `output` and log_sum, over earlier keys.
template <class Number>
void merge(Number* output, Number& log_sum, const Number* part, Number log_sum_of_part, std::int64_t columns) {
  if (log_sum_of_part == log_of_empty_sum<Number>) return;
  const Number maximum = std::max(log_sum, log_sum_of_part);
  const Number before = std::exp(log_sum - maximum);
  const Number added = std::exp(log_sum_of_part - maximum);
  const Number sum = before + added;
  mix_rows(output, before / sum, part, added / sum, static_cast<std::size_t>(columns));
  log_sum = maximum + std::log(sum);
}

template <class Number>
void fill(const MatrixRows<Number>& rows, std::int64_t count, std::int64_t columns, Number number) {
  for (std::int64_t row = 0; row < count; ++row) std::fill_n(rows.row(row), columns, number);
}

/// `has_earlier_keys`: whether output and log_sum hold results over earlier keys; else they are not initialised.
template <class Number>
void attend(const at::Tensor& query, const at::Tensor& keys_values, const RowSpans& spans, const AttentionSite& site,
            bool has_earlier_keys, const at::Tensor& output, const at::Tensor& log_sum) {
  const std::int64_t columns = query.size(1) / site.heads;
  const WeightBlocks blocks(spans, site, columns);
  blocks.for_each_share<Number>(blocks.parts(), 2, [&](const Share& share, Number* scratch) {
    const auto [sequence, head] = share.pair;
    const auto k = of_keys(columns_of<Number>(keys_values, head * columns), spans.keys[sequence]);
    const auto v = of_keys(columns_of<Number>(keys_values, (site.heads + head) * columns), spans.keys[sequence]);
    const auto q = columns_of<Number>(query, head * columns);
    const auto out = columns_to_fill<Number>(output, head * columns);
    const auto sums = columns_to_fill<Number>(log_sum, head);
    blocks.for_each_block(share, [&](std::int64_t first, std::int64_t count, std::int64_t seen) {
      if (seen == 0) {
        if (has_earlier_keys) return;
        fill(out.from(first), count, columns, Number{0});
        return fill(sums.from(first), count, 1, log_of_empty_sum<Number>);
      }
      const MatrixRows<Number> weights{scratch, row_room(seen)};
      std::array<Number, queries_at_once> log_sums;
      gemm(count, seen, columns, blocks.scale<Number>(), as_stored(q.from(first)), transposed(k), 0, weights);
      for (std::int64_t row = 0; row < count; ++row) {
        const std::int64_t visible = blocks.visible_keys(sequence, first + row);
        log_sums[static_cast<std::size_t>(row)] =
            visible > 0 ? softmax(weights.row(row), static_cast<std::size_t>(visible)) : log_of_empty_sum<Number>;
        std::fill(weights.row(row) + visible, weights.row(row) + seen, Number{0});
        if (blocks.drops()) blocks.keep(sequence, first + row, head, weights.row(row), visible, weights.row(row));
      }
      const MatrixRows<Number> part =
          has_earlier_keys ? MatrixRows<Number>{weights.row(count), columns} : out.from(first);
      gemm(count, columns, seen, 1, as_stored(weights), as_stored(v), 0, part);
      for (std::int64_t row = 0; row < count; ++row) {
        const Number log_sum_of_part = log_sums[static_cast<std::size_t>(row)];
        if (has_earlier_keys)
          merge(out.row(first + row), *sums.row(first + row), part.row(row), log_sum_of_part, columns);
        else
          *sums.row(first + row) = log_sum_of_part;
      }
    });
  });
}

/// The backward pass of one head over the queries of one sequence.
template <class Number>
struct BackwardOfHead {
  const WeightBlocks& blocks;
  Share::Pair pair;
  std::int64_t columns;  // of the head
  std::int64_t keys;     // of the sequence
  MatrixRows<const Number> q, k, v, out, log_sum, output_gradient;
  MatrixRows<Number> query_gradient, key_gradient, value_gradient;
  bool queries_filled;  // whether query_gradient is added to, else written; likewise key_gradient and value_gradient
  bool keys_filled;
  Number* scratch;

  /// For `count` queries from row `first` on, none of which sees more than the first `seen` keys.
  void backward(std::int64_t first, std::int64_t count, std::int64_t seen) {
    if (seen < keys) fill_keys();
    if (seen == 0 && !queries_filled) fill(query_gradient.from(first), count, columns, Number{0});
    if (seen == 0) return;
    const Number keys_kept = keys_filled ? 1 : 0;
    const MatrixRows<Number> weights{scratch, row_room(seen)};
    const MatrixRows<Number> gradients = {weights.row(count), weights.stride};
    const MatrixRows<Number> dropped = blocks.drops() ? gradients.from(count) : weights;
    gemm(count, seen, columns, blocks.scale<Number>(), as_stored(q.from(first)), transposed(k), 0, weights);
    for (std::int64_t row = 0; row < count; ++row)
      blocks.make_again(pair.sequence, first + row, pair.head, *log_sum.row(first + row), seen, weights.row(row),
                        dropped.row(row));
    gemm(seen, columns, count, 1, transposed(dropped), as_stored(output_gradient.from(first)), keys_kept,
         value_gradient);
    gemm(count, seen, columns, 1, as_stored(output_gradient.from(first)), transposed(v), 0, gradients);
    for (std::int64_t row = 0; row < count; ++row) {
      const Number mean =
          dot(output_gradient.row(first + row), out.row(first + row), static_cast<std::size_t>(columns));
      softmax_backward(weights.row(row), dropped.row(row), mean, gradients.row(row), static_cast<std::size_t>(seen));
    }
    gemm(count, columns, seen, blocks.scale<Number>(), as_stored(gradients), as_stored(k), queries_filled ? 1 : 0,
         query_gradient.from(first));
    gemm(seen, columns, count, blocks.scale<Number>(), transposed(gradients), as_stored(q.from(first)), keys_kept,
         key_gradient);
    keys_filled = true;
  }

  /// Sets the gradients of keys and values to zero if nothing has been written to them.
  void fill_keys() {
    if (keys_filled) return;
    fill(key_gradient, keys, columns, Number{0});
    fill(value_gradient, keys, columns, Number{0});
    keys_filled = true;
  }
};

template <class Number>
void attend_backward(const at::Tensor& query, const at::Tensor& keys_values, const RowSpans& spans,
                     const AttentionSite& site, const at::Tensor& output, const at::Tensor& log_sum,
                     const at::Tensor& gradient, const GradientOfRows& query_gradient,
                     const GradientOfRows& keys_values_gradient) {
  const std::int64_t columns = query.size(1) / site.heads;
  const WeightBlocks blocks(spans, site, columns);
  const std::int64_t parts = blocks.parts();
  std::vector<GradientOfRows> to_keys_values = {keys_values_gradient};  // of each part, summed at the end
  for (std::int64_t part = 1; part < parts; ++part)
    to_keys_values.push_back(new_gradient(keys_values, spans.key_count() == keys_values.size(0)));
  blocks.for_each_share<Number>(parts, blocks.drops() ? 3 : 2, [&](const Share& share, Number* scratch) {
    const auto [sequence, head] = share.pair;
    const std::int64_t of_key = head * columns;
    const std::int64_t of_value = (site.heads + head) * columns;
    const KeySpan& keys = spans.keys[sequence];
    const GradientOfRows& to_keys = to_keys_values[static_cast<std::size_t>(share.part)];
    BackwardOfHead<Number> back{.blocks = blocks,
                                .pair = share.pair,
                                .columns = columns,
                                .keys = keys.count,
                                .q = columns_of<Number>(query, of_key),
                                .k = of_keys(columns_of<Number>(keys_values, of_key), keys),
                                .v = of_keys(columns_of<Number>(keys_values, of_value), keys),
                                .out = columns_of<Number>(output, of_key),
                                .log_sum = columns_of<Number>(log_sum, head),
                                .output_gradient = columns_of<Number>(gradient, of_key),
                                .query_gradient = columns_to_fill<Number>(query_gradient.rows, of_key),
                                .key_gradient = of_keys(columns_to_fill<Number>(to_keys.rows, of_key), keys),
                                .value_gradient = of_keys(columns_to_fill<Number>(to_keys.rows, of_value), keys),
                                .queries_filled = query_gradient.accumulates,
                                .keys_filled = to_keys.accumulates,
                                .scratch = scratch};
    blocks.for_each_block(share, [&back](std::int64_t first, std::int64_t count, std::int64_t seen) {
      back.backward(first, count, seen);
    });
    back.fill_keys();
  });
  for (std::size_t part = 1; part < to_keys_values.size(); ++part)
    to_keys_values.front().rows.add_(to_keys_values[part].rows);
}

}  // namespace

void host_attend(const at::Tensor& query, const at::Tensor& keys_values, const RowSpans& spans,
                 const AttentionSite& site, bool has_earlier_keys, const at::Tensor& output,
                 const at::Tensor& log_sum) {
  AT_DISPATCH_FLOATING_TYPES(query.scalar_type(), "host_attend", [&] {
    attend<scalar_t>(query, keys_values, spans, site, has_earlier_keys, output, log_sum);
  });
}

void host_attend_backward(const at::Tensor& query, const at::Tensor& keys_values, const RowSpans& spans,
                          const AttentionSite& site, const at::Tensor& output, const at::Tensor& log_sum,
                          const at::Tensor& gradient, const GradientOfRows& query_gradient,
                          const GradientOfRows& keys_values_gradient) {
  AT_DISPATCH_FLOATING_TYPES(query.scalar_type(), "host_attend_backward", [&] {
    attend_backward<scalar_t>(query, keys_values, spans, site, output, log_sum, gradient, query_gradient,
                              keys_values_gradient);
  });
}

}  // namespace ut::core
