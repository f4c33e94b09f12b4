#pragma once

#include <cmath>
#include <cstdint>

#include "core/kernels/attention_tiles.h"

namespace ut::core {

/// The forward pass: online softmax, as in FlashAttention. A block computes a tile of queries in one head and goes
/// through the keys tile by tile. For each query it keeps the largest logit m so far, s = the sum of exp(logit - m),
/// and o = the sum of exp(logit - m) value; a tile with a larger logit m' first scales s and o by exp(m - m')
/// (`factor`). At the end the output is o / s and log_sum = m + log s. With `has_earlier_keys` these are merged with
/// the results over earlier keys, each weighted by exp of its log_sum. Dropout takes weights out of o, not out of s.
/// The stages of a tile: load keys; compute logits; find the largest logit and load values; compute weights; add up.
template <class Number, class Input, int max_columns>
struct AttentionForward {
  using Tiles = AttentionTiles<Number, Input, max_columns>;
  Tiles tiles;
  TileRows<Number> output;   // [query rows, heads * columns]
  TileRows<Number> log_sum;  // [query rows, heads]
  bool has_earlier_keys;     // whether these two hold results over earlier keys; else they are not initialised
  std::int64_t query_tiles;

  struct Shared {
    typename Tiles::QueryRows queries;
    typename Tiles::KeyRows keys;  // then values
    typename Tiles::Weights weights;
    Number part_max[threads_per_query][queries_of_tile];
    Number part_sum[threads_per_query][queries_of_tile];
    Number max_logit[queries_of_tile];
    Number sum[queries_of_tile];
    Number factor[queries_of_tile];  // by which a tile scales what earlier tiles gave
  };
  struct Registers {
    Number output[queries_of_tile / threads_down][Tiles::columns_per_thread];
  };

  constexpr std::int64_t blocks() const { return query_tiles * tiles.heads; }
  constexpr std::int64_t stages(std::int64_t block) const {
    return 1 + stages_of_tile * tiles.key_tiles_of(tiles.queries_of(block / tiles.heads)) + 2;
  }
  constexpr void run(std::int64_t block, std::int64_t stage, std::int64_t last, int thread, Registers& registers,
                     Shared& shared) const {
    const auto queries = tiles.queries_of(block / tiles.heads);
    const std::int64_t head = block % tiles.heads;
    if (stage == 0) return begin(queries, head, thread, registers, shared);
    if (stage == last) return finish_sums(queries, head, thread, shared);
    if (stage == last - 1) return finish(queries, head, thread, registers, shared);
    const std::int64_t key_tile = tables().key_tile_offsets[queries.sequence] + (stage - 1) / stages_of_tile;
    switch ((stage - 1) % stages_of_tile) {
      case 0:
        return tiles.load_keys(tiles.key_rows, key_tile, head, thread, shared.keys);
      case 1:
        return tiles.multiply(shared.queries, shared.keys, queries.count, tiles.extent(key_tile), thread,
                              shared.weights);
      case 2:
        find_max(queries, key_tile, head, thread, shared);
        return tiles.load_keys(tiles.value_rows, key_tile, head, thread, shared.keys);
      case 3:
        return weigh(queries, key_tile, head, thread, shared);
      default:
        return add(queries.count, tiles.extent(key_tile), thread, registers, shared);
    }
  }

 private:
  static constexpr int stages_of_tile = 5;

  constexpr const TileTables& tables() const { return tiles.tables; }

  constexpr void begin(const typename Tiles::Queries& queries, std::int64_t head, int thread, Registers& registers,
                       Shared& shared) const {
    tiles.load_queries(tiles.query_rows, queries, head, tiles.scale, thread, shared.queries);
    for (auto& of_query : registers.output)
      for (Number& number : of_query) number = 0;
    if (thread >= queries_of_tile) return;
    shared.max_logit[thread] = Tiles::nothing;
    shared.sum[thread] = 0;
  }

  constexpr void find_max(const typename Tiles::Queries& queries, std::int64_t key_tile, std::int64_t head, int thread,
                          Shared& shared) const {
    const int query = thread / threads_per_query;
    Number max_logit = Tiles::nothing;
    tiles.for_each_weight(queries, key_tile, head, thread, [&](int column, bool is_seen, bool) {
      Number& logit = Tiles::number(shared.weights[query], column);
      if (!is_seen) logit = Tiles::nothing;
      if (logit > max_logit || logit != logit) max_logit = logit;  // NaN stays NaN
    });
    shared.part_max[thread % threads_per_query][query] = max_logit;
  }

  /// The largest logit so far, including this tile's.
  static constexpr Number max_so_far(int query, const Shared& shared) {
    Number max_logit = shared.max_logit[query];
    for (const auto& part : shared.part_max)
      if (part[query] > max_logit || part[query] != part[query]) max_logit = part[query];
    return max_logit;
  }

  constexpr void weigh(const typename Tiles::Queries& queries, std::int64_t key_tile, std::int64_t head, int thread,
                       Shared& shared) const {
    const int query = thread / threads_per_query;
    const Number max_logit = max_so_far(query, shared);
    Number sum = 0;
    tiles.for_each_weight(queries, key_tile, head, thread, [&](int column, bool, bool is_kept) {
      Number& weight = Tiles::number(shared.weights[query], column);
      weight = weight == Tiles::nothing ? Number{0} : std::exp(weight - max_logit);
      sum += weight;
      weight = is_kept ? tiles.kept_scale * weight : Number{0};
    });
    shared.part_sum[thread % threads_per_query][query] = sum;
    if (thread % threads_per_query > 0) return;
    const Number before = shared.max_logit[query];
    shared.factor[query] = before == Tiles::nothing ? Number{0} : std::exp(before - max_logit);
  }

  constexpr void add(int count, int extent, int thread, Registers& registers, Shared& shared) const {
    for (int i = 0; i < queries_of_tile / threads_down; ++i)
      for (Number& number : registers.output[i]) number *= shared.factor[thread / threads_across + threads_down * i];
    Tiles::add_rows_of_keys(shared.weights, shared.keys, count, extent, thread, registers.output);
    if (thread >= queries_of_tile) return;
    shared.sum[thread] *= shared.factor[thread];
    for (const auto& part : shared.part_sum) shared.sum[thread] += part[thread];
    shared.max_logit[thread] = max_so_far(thread, shared);
  }

  /// The shares that the results over earlier keys and over these keys have in the merged result.
  struct Shares {
    Number before;
    Number here;  // includes the division by these keys' sum, still to be done
    Number log_sum;
  };
  constexpr Shares shares(std::int64_t row, std::int64_t head, int query, const Shared& shared) const {
    const Number sum = shared.sum[query];
    const Number log_before = has_earlier_keys ? log_sum.row(row)[head] : Tiles::nothing;
    if (sum == 0) return {1, 0, log_before};
    const Number log_here = shared.max_logit[query] + std::log(sum);
    if (log_before == Tiles::nothing) return {0, 1 / sum, log_here};
    const Number larger = log_before > log_here ? log_before : log_here;
    const Number before = std::exp(log_before - larger);
    const Number here = std::exp(log_here - larger);
    return {before / (before + here), here / (before + here) / sum, larger + std::log(before + here)};
  }

  constexpr void finish(const typename Tiles::Queries& queries, std::int64_t head, int thread,
                        const Registers& registers, const Shared& shared) const {
    for (int i = 0; i < queries_of_tile / threads_down; ++i) {
      const int query = thread / threads_across + threads_down * i;
      if (query >= queries.count) continue;
      const Shares of = shares(queries.first + query, head, query, shared);
      for (int j = 0; j < Tiles::columns_per_thread; ++j) {
        const int column = Tiles::column_of(thread, j);
        if (column >= tiles.columns) continue;
        Number& number = output.row(queries.first + query)[head * tiles.columns + column];
        const Number before = has_earlier_keys ? of.before * number : Number{0};
        number = before + of.here * registers.output[i][j];
      }
    }
  }

  constexpr void finish_sums(const typename Tiles::Queries& queries, std::int64_t head, int thread,
                             const Shared& shared) const {
    if (thread < queries.count)
      log_sum.row(queries.first + thread)[head] = shares(queries.first + thread, head, thread, shared).log_sum;
  }
};

}  // namespace ut::core
