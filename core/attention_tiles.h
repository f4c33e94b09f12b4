#pragma once

#include <cmath>
#include <cstdint>
#include <limits>

#include "core/row_draw.h"

// Attention of rows over rows (equations 1 to 3, before W^O), there and back, as blocks of threads compute it that have
// a tile of the weights in common, in stages: on devices, with a wait of all after each. What one thread keeps from
// stage to stage is in its `Registers`, what a block shares is in `Shared`. Each block writes what no other does, so
// sums come in the same order in every run. constexpr, so that it is compiled for the host too, where tests go through
// blocks, stages and threads one after the other.
namespace ut::core {

constexpr int threads_of_tile = 128;
constexpr int queries_of_tile = 32;
constexpr int keys_of_tile = columns_of_block;  // of successive positions: dropout draws for these together
constexpr int threads_across = 16;              // a block's threads as a rectangle
constexpr int threads_down = threads_of_tile / threads_across;
constexpr int lanes_of_tile_thread = lanes_of_block * queries_of_tile / threads_of_tile;
constexpr int parts_of_query = threads_of_tile / queries_of_tile;  // threads that go through one query's weights

/// Some columns of rows where kernels run.
template <class Number>
struct TileRows {
  Number* data;
  std::int64_t stride;  // from row to row

  constexpr Number* row(std::int64_t number) const { return data + number * stride; }
};

/// Where each sequence's queries and keys stand, and who may see whom. All tables are int64.
struct TileTables {
  const std::int64_t* query_offsets;       // [sequences + 1]: first row
  const std::int64_t* query_tile_offsets;  // [sequences + 1]: first tile
  const std::int64_t* key_tile_offsets;    // [sequences + 1]: first tile
  const std::int64_t* query_tiles;         // [query tiles]: whose sequence's each is
  const std::int64_t* key_tiles;           // [key tiles, 2]: that, and the position of the first column
  const std::int64_t* key_rows;  // [key tiles, keys_of_tile]: the row of each column's key; -1: no key is there
  const std::int64_t* sequence;  // [query rows]: identities
  const std::int64_t* position;  // [query rows]; they ascend in a sequence
  bool causal;                   // a query sees the keys of positions up to its own
};

/// What all ways have in common. Of a head's columns there are at most `most`.
template <class Number, int most>
struct AttentionTiles {
  TileTables tables;
  TileRows<const Number> query_rows;  // [query rows, heads * columns]
  TileRows<const Number> key_rows;    // [key rows, heads * columns]
  TileRows<const Number> value_rows;  // [key rows, heads * columns]
  std::int64_t heads;
  std::int64_t columns;     // of a head
  Number scale;             // of logits
  RowDraw draw;             // of no row yet
  std::int64_t first_head;  // that dropout counts
  Number kept_scale;        // of weights that dropout keeps

  static constexpr int of_thread = most / threads_across;  // columns
  static constexpr Number nothing = -std::numeric_limits<Number>::infinity();

  /// Rows of a tile; one number more than they have, so that threads one below the other read from different banks.
  using QueryRows = Number[queries_of_tile][most + 1];
  using KeyRows = Number[keys_of_tile][most + 1];
  using Weights = Number[queries_of_tile][keys_of_tile + 1];

  struct Queries {
    std::int64_t sequence;  // its number among those here
    std::int64_t first;     // row
    int count;
  };
  constexpr Queries queries_of(std::int64_t tile) const {
    const std::int64_t sequence = tables.query_tiles[tile];
    const std::int64_t first =
        tables.query_offsets[sequence] + (tile - tables.query_tile_offsets[sequence]) * queries_of_tile;
    const std::int64_t left = tables.query_offsets[sequence + 1] - first;
    return {sequence, first, left < queries_of_tile ? static_cast<int>(left) : queries_of_tile};
  }
  constexpr std::int64_t first_position(std::int64_t key_tile) const { return tables.key_tiles[2 * key_tile + 1]; }
  constexpr bool sees(std::int64_t query_row, std::int64_t position) const {
    return !tables.causal || position <= tables.position[query_row];
  }

  /// How many of a sequence's key tiles, from its first, some of these queries see.
  constexpr std::int64_t key_tiles_of(const Queries& queries) const {
    const std::int64_t begin = tables.key_tile_offsets[queries.sequence];
    std::int64_t count = tables.key_tile_offsets[queries.sequence + 1] - begin;
    while (count > 0 && !sees(queries.first + queries.count - 1, first_position(begin + count - 1))) --count;
    return count;
  }

  /// Fills `rows` of a tile with a head's columns, times `factor`; zeros where row_of(place) is negative, and beyond.
  template <class Rows, class RowOf>
  constexpr void load(const TileRows<const Number>& from, std::int64_t head, Number factor, int thread,
                      const RowOf& row_of, Rows& rows) const {
    constexpr int places = static_cast<int>(sizeof(Rows) / sizeof(rows[0]));
    for (int index = thread; index < places * most; index += threads_of_tile) {
      const int place = index / most;
      const int column = index % most;
      const std::int64_t row = column < columns ? row_of(place) : -1;
      rows[place][column] = row < 0 ? Number{0} : factor * from.row(row)[head * columns + column];
    }
  }
  constexpr void load_queries(const TileRows<const Number>& from, const Queries& queries, std::int64_t head,
                              Number factor, int thread, QueryRows& rows) const {
    load(
        from, head, factor, thread,
        [&queries](int place) { return place < queries.count ? queries.first + place : std::int64_t{-1}; }, rows);
  }
  constexpr void load_keys(const TileRows<const Number>& from, std::int64_t key_tile, std::int64_t head, int thread,
                           KeyRows& rows) const {
    load(
        from, head, Number{1}, thread,
        [this, key_tile](int place) { return tables.key_rows[key_tile * keys_of_tile + place]; }, rows);
  }

  /// Products of the queries' rows with the keys', a thread's share of them.
  constexpr void multiply(const QueryRows& left, const KeyRows& right, int thread, Weights& products) const {
    constexpr int down = queries_of_tile / threads_down;
    constexpr int across = keys_of_tile / threads_across;
    const int first_query = thread / threads_across;
    const int first_key = thread % threads_across;
    Number sums[down][across] = {};
    for (int column = 0; column < most; ++column)
      for (int i = 0; i < down; ++i)
        for (int j = 0; j < across; ++j)
          sums[i][j] = std::fma(left[first_query + threads_down * i][column],
                                right[first_key + threads_across * j][column], sums[i][j]);
    for (int i = 0; i < down; ++i)
      for (int j = 0; j < across; ++j)
        products[first_query + threads_down * i][first_key + threads_across * j] = sums[i][j];
  }

  /// visit(column of the tile, whether this query sees it, whether dropout keeps it): the share of a query's weights
  /// that is this thread's. Of queries that are none, nothing.
  template <class Visit>
  constexpr void for_each_weight(const Queries& queries, std::int64_t key_tile, std::int64_t head, int thread,
                                 const Visit& visit) const {
    const int query = thread % queries_of_tile;
    if (query >= queries.count) return;
    const std::int64_t row = queries.first + query;
    const std::int64_t first = first_position(key_tile);
    const RowDraw of_row =
        draw.of_row(tables.sequence[row], tables.position[row], static_cast<std::uint32_t>(first_head + head));
    const auto first_call = static_cast<std::uint32_t>(first / keys_of_tile * lanes_of_block +
                                                       thread / queries_of_tile * lanes_of_tile_thread);
    for (std::uint32_t call = first_call; call < first_call + lanes_of_tile_thread; ++call)
      of_row.decide(call, [&](std::uint32_t position, bool is_kept) {
        const auto column = static_cast<int>(position - first);
        const bool is_key = tables.key_rows[key_tile * keys_of_tile + column] >= 0;
        visit(column, is_key && sees(row, position), is_kept);
      });
  }
};

/// The way there. A block sees to a tile of queries in one head.
template <class Number, int most>
struct AttentionForward {
  using Tiles = AttentionTiles<Number, most>;
  Tiles tiles;
  TileRows<Number> output;   // [query rows, heads * columns]
  TileRows<Number> log_sum;  // [query rows, heads]: the logarithm of the sum of exp(logit)
  bool met_before;           // whether these two are over any keys so far; else nothing is in them yet
  std::int64_t query_tiles;

  struct Shared {
    typename Tiles::QueryRows queries;
    typename Tiles::KeyRows keys;  // then values
    typename Tiles::Weights weights;
    Number part_most[parts_of_query][queries_of_tile];
    Number part_sum[parts_of_query][queries_of_tile];
    Number most_logit[queries_of_tile];
    Number sum[queries_of_tile];
    Number factor[queries_of_tile];  // of what was there before a tile
  };
  struct Registers {
    Number output[queries_of_tile / threads_down][Tiles::of_thread];
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
        return tiles.multiply(shared.queries, shared.keys, thread, shared.weights);
      case 2:
        find_most(queries, key_tile, head, thread, shared);
        return tiles.load_keys(tiles.value_rows, key_tile, head, thread, shared.keys);
      case 3:
        return weigh(queries, key_tile, head, thread, shared);
      default:
        return add(thread, registers, shared);
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
    shared.most_logit[thread] = Tiles::nothing;
    shared.sum[thread] = 0;
  }

  constexpr void find_most(const typename Tiles::Queries& queries, std::int64_t key_tile, std::int64_t head, int thread,
                           Shared& shared) const {
    const int query = thread % queries_of_tile;
    Number most_logit = Tiles::nothing;
    tiles.for_each_weight(queries, key_tile, head, thread, [&](int column, bool is_seen, bool) {
      Number& logit = shared.weights[query][column];
      if (!is_seen) logit = Tiles::nothing;
      if (logit > most_logit || logit != logit) most_logit = logit;  // what is not a number stays that
    });
    shared.part_most[thread / queries_of_tile][query] = most_logit;
  }

  /// The largest logit so far, this tile's among them.
  static constexpr Number most_so_far(int query, const Shared& shared) {
    Number most_logit = shared.most_logit[query];
    for (const auto& part : shared.part_most)
      if (part[query] > most_logit || part[query] != part[query]) most_logit = part[query];
    return most_logit;
  }

  constexpr void weigh(const typename Tiles::Queries& queries, std::int64_t key_tile, std::int64_t head, int thread,
                       Shared& shared) const {
    const int query = thread % queries_of_tile;
    const Number most_logit = most_so_far(query, shared);
    Number sum = 0;
    tiles.for_each_weight(queries, key_tile, head, thread, [&](int column, bool, bool is_kept) {
      Number& weight = shared.weights[query][column];
      weight = weight == Tiles::nothing ? Number{0} : std::exp(weight - most_logit);
      sum += weight;
      weight = is_kept ? tiles.kept_scale * weight : Number{0};
    });
    shared.part_sum[thread / queries_of_tile][query] = sum;
    if (thread >= queries_of_tile) return;
    const Number before = shared.most_logit[query];
    shared.factor[query] = before == Tiles::nothing ? Number{0} : std::exp(before - most_logit);
  }

  constexpr void add(int thread, Registers& registers, Shared& shared) const {
    constexpr int down = queries_of_tile / threads_down;
    const int first_query = thread / threads_across;
    const int first_column = thread % threads_across;
    for (int i = 0; i < down; ++i)
      for (Number& number : registers.output[i]) number *= shared.factor[first_query + threads_down * i];
    for (int key = 0; key < keys_of_tile; ++key)
      for (int i = 0; i < down; ++i)
        for (int j = 0; j < Tiles::of_thread; ++j)
          registers.output[i][j] =
              std::fma(shared.weights[first_query + threads_down * i][key],
                       shared.keys[key][first_column + threads_across * j], registers.output[i][j]);
    if (thread >= queries_of_tile) return;
    shared.sum[thread] *= shared.factor[thread];
    for (const auto& part : shared.part_sum) shared.sum[thread] += part[thread];
    shared.most_logit[thread] = most_so_far(thread, shared);
  }

  /// What was met before, and what was met here, in the shares that they have of all.
  struct Shares {
    Number before;
    Number here;  // of what is not yet divided by its sum
    Number log_sum;
  };
  constexpr Shares shares(std::int64_t row, std::int64_t head, int query, const Shared& shared) const {
    const Number sum = shared.sum[query];
    const Number log_before = met_before ? log_sum.row(row)[head] : Tiles::nothing;
    if (sum == 0) return {1, 0, log_before};
    const Number log_here = shared.most_logit[query] + std::log(sum);
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
      for (int j = 0; j < Tiles::of_thread; ++j) {
        const int column = thread % threads_across + threads_across * j;
        if (column >= tiles.columns) continue;
        Number& number = output.row(queries.first + query)[head * tiles.columns + column];
        const Number before = met_before ? of.before * number : Number{0};
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

/// The logits of a tile and the gradients of its weights -> the weights as dropout leaves them, and the gradients of
/// the logits. `mean` [query]: the product of an output and its gradient.
template <class Number, int most, class Shared>
constexpr void go_back_through_softmax(const AttentionTiles<Number, most>& tiles,
                                       const typename AttentionTiles<Number, most>::Queries& queries,
                                       std::int64_t key_tile, std::int64_t head, int thread, Shared& shared) {
  const int query = thread % queries_of_tile;
  const Number nothing = AttentionTiles<Number, most>::nothing;
  const Number log_sum = shared.log_sum[query];
  tiles.for_each_weight(queries, key_tile, head, thread, [&](int column, bool is_seen, bool is_kept) {
    Number& weight = shared.weights[query][column];
    Number& gradient = shared.gradients[query][column];
    const bool counts = is_seen && log_sum != nothing;
    const Number whole = counts ? std::exp(weight - log_sum) : Number{0};
    const Number factor = is_kept ? tiles.kept_scale : Number{0};
    weight = factor * whole;
    gradient = counts ? whole * (factor * gradient - shared.mean[query]) : Number{0};
  });
  if (query < queries.count) return;
  for (int column = thread / queries_of_tile; column < keys_of_tile; column += parts_of_query) {
    shared.weights[query][column] = 0;
    shared.gradients[query][column] = 0;
  }
}

/// The way back to the queries. A block sees to a tile of them in one head.
template <class Number, int most>
struct AttentionBackToQueries {
  using Tiles = AttentionTiles<Number, most>;
  Tiles tiles;
  TileRows<const Number> output;    // [query rows, heads * columns]
  TileRows<const Number> log_sum;   // [query rows, heads]
  TileRows<const Number> gradient;  // [query rows, heads * columns]: of the output
  TileRows<Number> mean;            // [query rows, heads]: filled with the output's product with it
  TileRows<Number> query_gradient;  // [query rows, heads * columns]
  bool query_filled;                // whether that is added to; else nothing is in it yet
  std::int64_t query_tiles;

  struct Shared {
    typename Tiles::QueryRows queries;
    typename Tiles::QueryRows given;
    typename Tiles::KeyRows keys;
    typename Tiles::KeyRows values;
    typename Tiles::Weights weights;
    typename Tiles::Weights gradients;
    Number part_mean[parts_of_query][queries_of_tile];
    Number log_sum[queries_of_tile];
    Number mean[queries_of_tile];
  };
  struct Registers {
    Number gradient[queries_of_tile / threads_down][Tiles::of_thread];
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
        tiles.multiply(shared.queries, shared.keys, thread, shared.weights);
        return tiles.multiply(shared.given, shared.values, thread, shared.gradients);
      case 2:
        return go_back_through_softmax(tiles, queries, key_tile, head, thread, shared);
      default:
        return add(thread, registers, shared);
    }
  }

 private:
  static constexpr int stages_of_tile = 4;

  constexpr void begin(const typename Tiles::Queries& queries, std::int64_t head, int thread, Registers& registers,
                       Shared& shared) const {
    tiles.load_queries(tiles.query_rows, queries, head, tiles.scale, thread, shared.queries);
    tiles.load_queries(gradient, queries, head, Number{1}, thread, shared.given);
    for (auto& of_query : registers.gradient)
      for (Number& number : of_query) number = 0;
    const int query = thread % queries_of_tile;
    Number part = 0;
    if (query < queries.count) {
      const std::int64_t row = queries.first + query;
      for (std::int64_t column = thread / queries_of_tile; column < tiles.columns; column += parts_of_query)
        part = std::fma(output.row(row)[head * tiles.columns + column],
                        gradient.row(row)[head * tiles.columns + column], part);
    }
    shared.part_mean[thread / queries_of_tile][query] = part;
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

  constexpr void add(int thread, Registers& registers, const Shared& shared) const {
    const int first_query = thread / threads_across;
    const int first_column = thread % threads_across;
    for (int key = 0; key < keys_of_tile; ++key)
      for (int i = 0; i < queries_of_tile / threads_down; ++i)
        for (int j = 0; j < Tiles::of_thread; ++j)
          registers.gradient[i][j] =
              std::fma(shared.gradients[first_query + threads_down * i][key],
                       shared.keys[key][first_column + threads_across * j], registers.gradient[i][j]);
  }

  constexpr void finish(const typename Tiles::Queries& queries, std::int64_t head, int thread,
                        const Registers& registers) const {
    for (int i = 0; i < queries_of_tile / threads_down; ++i) {
      const int query = thread / threads_across + threads_down * i;
      if (query >= queries.count) continue;
      for (int j = 0; j < Tiles::of_thread; ++j) {
        const int column = thread % threads_across + threads_across * j;
        if (column >= tiles.columns) continue;
        Number& number = query_gradient.row(queries.first + query)[head * tiles.columns + column];
        number = (query_filled ? number : Number{0}) + tiles.scale * registers.gradient[i][j];
      }
    }
  }
};

/// The way back to keys and values, after that to the queries. A block sees to a tile of them in one head.
template <class Number, int most>
struct AttentionBackToKeys {
  using Tiles = AttentionTiles<Number, most>;
  Tiles tiles;
  TileRows<const Number> log_sum;   // [query rows, heads]
  TileRows<const Number> gradient;  // [query rows, heads * columns]: of the output
  TileRows<const Number> mean;      // [query rows, heads]
  TileRows<Number> key_gradient;    // [key rows, heads * columns]
  TileRows<Number> value_gradient;  // [key rows, heads * columns]
  bool keys_filled;                 // whether these are added to; else nothing is in the keys' rows yet
  std::int64_t key_tiles;

  struct Shared {
    typename Tiles::QueryRows queries;
    typename Tiles::QueryRows given;
    typename Tiles::KeyRows keys;
    typename Tiles::KeyRows values;
    typename Tiles::Weights weights;
    typename Tiles::Weights gradients;
    Number log_sum[queries_of_tile];
    Number mean[queries_of_tile];
  };
  struct Registers {
    Number of_keys[keys_of_tile / threads_down][Tiles::of_thread];
    Number of_values[keys_of_tile / threads_down][Tiles::of_thread];
  };

  constexpr std::int64_t blocks() const { return key_tiles * tiles.heads; }
  constexpr std::int64_t stages(std::int64_t block) const {
    const std::int64_t sequence = tiles.tables.key_tiles[2 * (block / tiles.heads)];
    return 1 + stages_of_tile * (tiles.tables.query_tile_offsets[sequence + 1] - first_query_tile(block)) + 1;
  }
  constexpr void run(std::int64_t block, std::int64_t stage, std::int64_t last, int thread, Registers& registers,
                     Shared& shared) const {
    const std::int64_t key_tile = block / tiles.heads;
    const std::int64_t head = block % tiles.heads;
    if (stage == 0) return begin(key_tile, head, thread, registers, shared);
    if (stage == last) return finish(key_tile, head, thread, registers);
    const auto queries = tiles.queries_of(first_query_tile(block) + (stage - 1) / stages_of_tile);
    switch ((stage - 1) % stages_of_tile) {
      case 0:
        return load(queries, head, thread, shared);
      case 1:
        tiles.multiply(shared.queries, shared.keys, thread, shared.weights);
        return tiles.multiply(shared.given, shared.values, thread, shared.gradients);
      case 2:
        return go_back_through_softmax(tiles, queries, key_tile, head, thread, shared);
      default:
        return add(thread, registers, shared);
    }
  }

 private:
  static constexpr int stages_of_tile = 4;

  /// The first of the sequence's that sees any of the block's keys.
  constexpr std::int64_t first_query_tile(std::int64_t block) const {
    const std::int64_t key_tile = block / tiles.heads;
    const std::int64_t sequence = tiles.tables.key_tiles[2 * key_tile];
    const std::int64_t end = tiles.tables.query_tile_offsets[sequence + 1];
    std::int64_t tile = tiles.tables.query_tile_offsets[sequence];
    while (tile < end) {
      const auto queries = tiles.queries_of(tile);
      if (tiles.sees(queries.first + queries.count - 1, tiles.first_position(key_tile))) break;
      ++tile;
    }
    return tile;
  }

  constexpr void begin(std::int64_t key_tile, std::int64_t head, int thread, Registers& registers,
                       Shared& shared) const {
    tiles.load_keys(tiles.key_rows, key_tile, head, thread, shared.keys);
    tiles.load_keys(tiles.value_rows, key_tile, head, thread, shared.values);
    for (auto& of_key : registers.of_keys)
      for (Number& number : of_key) number = 0;
    for (auto& of_value : registers.of_values)
      for (Number& number : of_value) number = 0;
  }

  constexpr void load(const typename Tiles::Queries& queries, std::int64_t head, int thread, Shared& shared) const {
    tiles.load_queries(tiles.query_rows, queries, head, tiles.scale, thread, shared.queries);
    tiles.load_queries(gradient, queries, head, Number{1}, thread, shared.given);
    if (thread >= queries.count) return;
    shared.log_sum[thread] = log_sum.row(queries.first + thread)[head];
    shared.mean[thread] = mean.row(queries.first + thread)[head];
  }

  constexpr void add(int thread, Registers& registers, const Shared& shared) const {
    const int first_key = thread / threads_across;
    const int first_column = thread % threads_across;
    for (int query = 0; query < queries_of_tile; ++query)
      for (int i = 0; i < keys_of_tile / threads_down; ++i)
        for (int j = 0; j < Tiles::of_thread; ++j) {
          const int key = first_key + threads_down * i;
          const int column = first_column + threads_across * j;
          registers.of_keys[i][j] =
              std::fma(shared.gradients[query][key], shared.queries[query][column], registers.of_keys[i][j]);
          registers.of_values[i][j] =
              std::fma(shared.weights[query][key], shared.given[query][column], registers.of_values[i][j]);
        }
  }

  constexpr void finish(std::int64_t key_tile, std::int64_t head, int thread, const Registers& registers) const {
    for (int i = 0; i < keys_of_tile / threads_down; ++i) {
      const int key = thread / threads_across + threads_down * i;
      const std::int64_t row = tiles.tables.key_rows[key_tile * keys_of_tile + key];
      if (row < 0) continue;
      for (int j = 0; j < Tiles::of_thread; ++j) {
        const int column = thread % threads_across + threads_across * j;
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
