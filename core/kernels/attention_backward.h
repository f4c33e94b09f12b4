#pragma once

#include <cmath>
#include <cstdint>

#include "core/kernels/attention_tiles.h"

namespace ut::core {

/// What the threads of a block share in either backward pass.
template <class Tiles, class Number>
struct SharedInBackward {
  typename Tiles::QueryRows queries;
  typename Tiles::QueryRows output_gradients;
  typename Tiles::KeyRows keys;
  typename Tiles::KeyRows values;
  typename Tiles::Weights weights;
  typename Tiles::Weights gradients;
  Number log_sum[queries_of_tile];
  // The dot product of an output and its gradient. It equals the weighted mean of the weights' gradients, which the
  // backward pass of softmax subtracts: d logit = weight (d weight - mean).
  Number mean[queries_of_tile];
};

/// Computes the logits of a tile and the gradients of its weights.
template <class Number, class Input, int max_columns, class Shared>
constexpr void multiply_both(const AttentionTiles<Number, Input, max_columns>& tiles, int count, std::int64_t key_tile,
                             int thread, Shared& shared) {
  const int extent = tiles.extent(key_tile);
  tiles.multiply(shared.queries, shared.keys, count, extent, thread, shared.weights);
  tiles.multiply(shared.output_gradients, shared.values, count, extent, thread, shared.gradients);
}

/// Turns logits into the weights after dropout, and gradients of weights into those of logits.
template <class Number, class Input, int max_columns, class Shared>
constexpr void backward_through_softmax(const AttentionTiles<Number, Input, max_columns>& tiles,
                                        const typename AttentionTiles<Number, Input, max_columns>::Queries& queries,
                                        std::int64_t key_tile, std::int64_t head, int thread, Shared& shared) {
  using Tiles = AttentionTiles<Number, Input, max_columns>;
  const int query = thread / threads_per_query;
  const Number log_sum = shared.log_sum[query];
  tiles.for_each_weight(queries, key_tile, head, thread, [&](int column, bool is_seen, bool is_kept) {
    Number& weight = Tiles::number(shared.weights[query], column);
    Number& gradient = Tiles::number(shared.gradients[query], column);
    const bool counts = is_seen && log_sum != Tiles::nothing;
    const Number whole = counts ? std::exp(weight - log_sum) : Number{0};
    const Number factor = is_kept ? tiles.kept_scale : Number{0};
    weight = factor * whole;
    gradient = counts ? whole * (factor * gradient - shared.mean[query]) : Number{0};
  });
}

/// The backward pass to the queries. A block computes a tile of them in one head.
template <class Number, class Input, int max_columns>
struct AttentionBackwardToQueries {
  using Tiles = AttentionTiles<Number, Input, max_columns>;
  Tiles tiles;
  TileRows<const Number> output;    // [query rows, heads * columns]
  TileRows<const Number> log_sum;   // [query rows, heads]
  TileRows<const Input> gradient;   // [query rows, heads * columns]: of the output
  TileRows<Number> mean;            // [query rows, heads]: filled with the dot products of output and gradient
  TileRows<Number> query_gradient;  // [query rows, heads * columns]
  bool query_filled;                // whether to add to query_gradient; else it is not initialised
  std::int64_t query_tiles;

  struct Shared : SharedInBackward<Tiles, Number> {
    Number part_mean[threads_per_query][queries_of_tile];
  };
  struct Registers {
    Number gradient[queries_of_tile / threads_down][Tiles::columns_per_thread];
  };

  constexpr std::int64_t blocks() const { return query_tiles * tiles.heads; }
  constexpr std::int64_t stages(std::int64_t block) const {
    return 2 + stages_of_tile * tiles.key_tiles_of(tiles.queries_of(block / tiles.heads)) + 1;
  }
  constexpr void run(std::int64_t block, std::int64_t stage, std::int64_t last, int thread, Registers& registers,
                     Shared& shared) const {
    const auto queries = tiles.queries_of(block / tiles.heads);
    const std::int64_t head = block % tiles.heads;
    if (stage == 0) return begin(queries, head, thread, registers, shared);
    if (stage == 1) return take_mean(queries, head, thread, shared);
    if (stage == last) return finish(queries, head, thread, registers);
    const std::int64_t key_tile = tiles.tables.key_tile_offsets[queries.sequence] + (stage - 2) / stages_of_tile;
    switch ((stage - 2) % stages_of_tile) {
      case 0:
        tiles.load_keys(tiles.key_rows, key_tile, head, thread, shared.keys);
        return tiles.load_keys(tiles.value_rows, key_tile, head, thread, shared.values);
      case 1:
        return multiply_both(tiles, queries.count, key_tile, thread, shared);
      case 2:
        return backward_through_softmax(tiles, queries, key_tile, head, thread, shared);
      default:
        return Tiles::add_rows_of_keys(shared.gradients, shared.keys, queries.count, tiles.extent(key_tile), thread,
                                       registers.gradient);
    }
  }

 private:
  static constexpr int stages_of_tile = 4;

  constexpr void begin(const typename Tiles::Queries& queries, std::int64_t head, int thread, Registers& registers,
                       Shared& shared) const {
    tiles.load_queries(tiles.query_rows, queries, head, tiles.scale, thread, shared.queries);
    tiles.load_queries(gradient, queries, head, Number{1}, thread, shared.output_gradients);
    for (auto& of_query : registers.gradient)
      for (Number& number : of_query) number = 0;
    const int query = thread / threads_per_query;
    Number part = 0;
    if (query < queries.count) {
      const std::int64_t row = queries.first + query;
      for (std::int64_t column = thread % threads_per_query; column < tiles.columns; column += threads_per_query)
        part = std::fma(output.row(row)[head * tiles.columns + column],
                        static_cast<Number>(gradient.row(row)[head * tiles.columns + column]), part);
    }
    shared.part_mean[thread % threads_per_query][query] = part;
  }

  constexpr void take_mean(const typename Tiles::Queries& queries, std::int64_t head, int thread,
                           Shared& shared) const {
    if (thread >= queries.count) return;
    Number sum = 0;
    for (const auto& part : shared.part_mean) sum += part[thread];
    shared.mean[thread] = sum;
    mean.row(queries.first + thread)[head] = sum;
    shared.log_sum[thread] = log_sum.row(queries.first + thread)[head];
  }

  constexpr void finish(const typename Tiles::Queries& queries, std::int64_t head, int thread,
                        const Registers& registers) const {
    for (int i = 0; i < queries_of_tile / threads_down; ++i) {
      const int query = thread / threads_across + threads_down * i;
      if (query >= queries.count) continue;
      for (int j = 0; j < Tiles::columns_per_thread; ++j) {
        const int column = Tiles::column_of(thread, j);
        if (column >= tiles.columns) continue;
        Number& number = query_gradient.row(queries.first + query)[head * tiles.columns + column];
        number = (query_filled ? number : Number{0}) + tiles.scale * registers.gradient[i][j];
      }
    }
  }
};

/// The backward pass to keys and values, after the one to the queries. A block computes a tile of them in one head.
template <class Number, class Input, int max_columns>
struct AttentionBackwardToKeys {
  using Tiles = AttentionTiles<Number, Input, max_columns>;
  Tiles tiles;
  TileRows<const Number> log_sum;   // [query rows, heads]
  TileRows<const Input> gradient;   // [query rows, heads * columns]: of the output
  TileRows<const Number> mean;      // [query rows, heads]
  TileRows<Number> key_gradient;    // [key rows, heads * columns]
  TileRows<Number> value_gradient;  // [key rows, heads * columns]
  bool keys_filled;                 // whether to add to these two; else the keys' rows are not initialised
  std::int64_t key_tiles;

  using Shared = SharedInBackward<Tiles, Number>;
  struct Registers {
    Number of_keys[keys_of_tile / threads_down][Tiles::columns_per_thread];
    Number of_values[keys_of_tile / threads_down][Tiles::columns_per_thread];
    std::int64_t first_query_tile;
  };

  constexpr std::int64_t blocks() const { return key_tiles * tiles.heads; }
  constexpr std::int64_t stages(std::int64_t block) const {
    const std::int64_t key_tile = block / tiles.heads;
    const std::int64_t end = tiles.tables.query_tile_offsets[tiles.sequence_of(key_tile) + 1];
    return 1 + stages_of_tile * (end - tiles.first_query_tile_of(key_tile)) + 1;
  }
  constexpr void run(std::int64_t block, std::int64_t stage, std::int64_t last, int thread, Registers& registers,
                     Shared& shared) const {
    const std::int64_t key_tile = block / tiles.heads;
    const std::int64_t head = block % tiles.heads;
    if (stage == 0) return begin(block, thread, registers, shared);
    if (stage == last) return finish(key_tile, head, thread, registers);
    const auto queries = tiles.queries_of(registers.first_query_tile + (stage - 1) / stages_of_tile);
    switch ((stage - 1) % stages_of_tile) {
      case 0:
        return load(queries, head, thread, shared);
      case 1:
        return multiply_both(tiles, queries.count, key_tile, thread, shared);
      case 2:
        return backward_through_softmax(tiles, queries, key_tile, head, thread, shared);
      default:
        return add(queries.count, thread, registers, shared);
    }
  }

 private:
  static constexpr int stages_of_tile = 4;
  static constexpr int keys_of_thread = keys_of_tile / threads_down;  // consecutive

  constexpr void begin(std::int64_t block, int thread, Registers& registers, Shared& shared) const {
    tiles.load_keys(tiles.key_rows, block / tiles.heads, block % tiles.heads, thread, shared.keys);
    tiles.load_keys(tiles.value_rows, block / tiles.heads, block % tiles.heads, thread, shared.values);
    registers.first_query_tile = tiles.first_query_tile_of(block / tiles.heads);
    for (auto& of_key : registers.of_keys)
      for (Number& number : of_key) number = 0;
    for (auto& of_value : registers.of_values)
      for (Number& number : of_value) number = 0;
  }

  constexpr void load(const typename Tiles::Queries& queries, std::int64_t head, int thread, Shared& shared) const {
    tiles.load_queries(tiles.query_rows, queries, head, tiles.scale, thread, shared.queries);
    tiles.load_queries(gradient, queries, head, Number{1}, thread, shared.output_gradients);
    if (thread >= queries.count) return;
    shared.log_sum[thread] = log_sum.row(queries.first + thread)[head];
    shared.mean[thread] = mean.row(queries.first + thread)[head];
  }

  constexpr void add(int count, int thread, Registers& registers, const Shared& shared) const {
    const int first_four = thread / threads_across * keys_of_thread / 4;
    for (int query = 0; query < count; ++query) {
      Number of_query[Tiles::columns_per_thread];
      Number of_output_gradient[Tiles::columns_per_thread];
      Tiles::read_columns(shared.queries[query], thread, of_query);
      Tiles::read_columns(shared.output_gradients[query], thread, of_output_gradient);
      for (int four = 0; four < keys_of_thread / 4; ++four) {
        const Four<Number> weights = shared.weights[query][first_four + four];
        const Four<Number> gradients = shared.gradients[query][first_four + four];
        for (int k = 0; k < 4; ++k)
          for (int j = 0; j < Tiles::columns_per_thread; ++j) {
            Number& of_key = registers.of_keys[4 * four + k][j];
            Number& of_value = registers.of_values[4 * four + k][j];
            of_key = std::fma(gradients.of[k], of_query[j], of_key);
            of_value = std::fma(weights.of[k], of_output_gradient[j], of_value);
          }
      }
    }
  }

  constexpr void finish(std::int64_t key_tile, std::int64_t head, int thread, const Registers& registers) const {
    for (int i = 0; i < keys_of_thread; ++i) {
      const int key = thread / threads_across * keys_of_thread + i;
      const std::int64_t row = tiles.tables.key_rows[key_tile * keys_of_tile + key];
      if (row < 0) continue;
      for (int j = 0; j < Tiles::columns_per_thread; ++j) {
        const int column = Tiles::column_of(thread, j);
        if (column >= tiles.columns) continue;
        Number& of_key = key_gradient.row(row)[head * tiles.columns + column];
        Number& of_value = value_gradient.row(row)[head * tiles.columns + column];
        of_key = (keys_filled ? of_key : Number{0}) + registers.of_keys[i][j];
        of_value = (keys_filled ? of_value : Number{0}) + registers.of_values[i][j];
      }
    }
  }
};

}  // namespace ut::core
