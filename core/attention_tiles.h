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
constexpr int parts_of_query = threads_of_tile / queries_of_tile;  // threads that go through one query's weights
constexpr std::int64_t lanes_of_part = lanes_of_block / parts_of_query;

/// The most columns of a head: what a block shares has to fit where it runs.
template <class Number>
constexpr std::int64_t most_head_columns = sizeof(Number) > sizeof(float) ? 64 : 128;

/// So many numbers that are read and written at once.
template <class Number>
struct alignas(4 * sizeof(Number)) Four {
  Number of[4];
};

/// Some columns of rows where kernels run.
template <class Number>
struct TileRows {
  Number* data;
  std::int64_t stride;  // from row to row

  constexpr Number* row(std::int64_t number) const { return data + number * stride; }
};

/// Of a tile of keys: whose sequence's it is, the position of its first column, columns up to that of its last key, and
/// a bit for each that is a key's.
constexpr int numbers_of_key_tile = 4;

/// Where each sequence's queries and keys stand, and who may see whom. All tables are int64.
struct TileTables {
  const std::int64_t* query_offsets;       // [sequences + 1]: first row
  const std::int64_t* query_tile_offsets;  // [sequences + 1]: first tile
  const std::int64_t* key_tile_offsets;    // [sequences + 1]: first tile
  const std::int64_t* query_tiles;         // [query tiles]: whose sequence's each is
  const std::int64_t* key_tiles;           // [key tiles, numbers_of_key_tile]
  const std::int64_t* key_rows;  // [key tiles, keys_of_tile]: the row of each column's key; -1: no key is there
  const std::int64_t* sequence;  // [query rows]: identities
  const std::int64_t* position;  // [query rows]; they ascend in a sequence
  bool causal;                   // a query sees the keys of positions up to its own
};

/// What all ways have in common. Of a head's columns there are at most `most`; what is given is of type `Given`.
template <class Number, class Given, int most>
struct AttentionTiles {
  TileTables tables;
  TileRows<const Given> query_rows;  // [query rows, heads * columns]
  TileRows<const Given> key_rows;    // [key rows, heads * columns]
  TileRows<const Given> value_rows;  // [key rows, heads * columns]
  std::int64_t heads;
  std::int64_t columns;     // of a head
  Number scale;             // of logits
  RowDraw draw;             // of no row yet
  std::int64_t first_head;  // that dropout counts
  Number kept_scale;        // of weights that dropout keeps
  bool in_fours;            // whether four of a row's columns that are given can be read at once

  static constexpr int of_thread = most / threads_across;  // columns
  static constexpr Number nothing = -std::numeric_limits<Number>::infinity();

  /// Rows of a tile; four numbers more than they have, so that threads side by side read from different banks.
  using QueryRows = Four<Number>[queries_of_tile][most / 4 + 1];
  using KeyRows = Four<Number>[keys_of_tile][most / 4 + 1];
  using Weights = Four<Number>[queries_of_tile][keys_of_tile / 4 + 1];

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
  constexpr std::int64_t of_key_tile(std::int64_t key_tile, int number) const {
    return tables.key_tiles[numbers_of_key_tile * key_tile + number];
  }
  constexpr std::int64_t sequence_of(std::int64_t key_tile) const { return of_key_tile(key_tile, 0); }
  constexpr std::int64_t first_position(std::int64_t key_tile) const { return of_key_tile(key_tile, 1); }
  constexpr int extent(std::int64_t key_tile) const { return static_cast<int>(of_key_tile(key_tile, 2)); }
  constexpr bool sees(std::int64_t query_row, std::int64_t position) const {
    return !tables.causal || position <= tables.position[query_row];
  }

  /// A bit for each column of a tile whose key this query sees.
  constexpr std::uint64_t seen_of(std::int64_t key_tile, std::int64_t query_row) const {
    const auto keys = static_cast<std::uint64_t>(of_key_tile(key_tile, 3));
    if (!tables.causal) return keys;
    const std::int64_t last = tables.position[query_row] - first_position(key_tile);
    if (last < 0) return 0;
    return last >= keys_of_tile - 1 ? keys : keys & ((std::uint64_t{2} << last) - 1);
  }

  /// How many of a sequence's key tiles, from its first, some of these queries see.
  constexpr std::int64_t key_tiles_of(const Queries& queries) const {
    const std::int64_t begin = tables.key_tile_offsets[queries.sequence];
    std::int64_t count = tables.key_tile_offsets[queries.sequence + 1] - begin;
    while (count > 0 && !sees(queries.first + queries.count - 1, first_position(begin + count - 1))) --count;
    return count;
  }

  /// Fills a tile's rows with a head's columns, times `factor`; zeros where row_of(place) is
  /// negative, and beyond.
  template <class From, int all_places, int fours, class RowOf>
  constexpr void load(const TileRows<const From>& from, std::int64_t head, Number factor, int thread,
                      const RowOf& row_of, Four<Number> (&rows)[all_places][fours]) const {
    constexpr int of_row = most / 4;
    for (int index = thread; index < all_places * of_row; index += threads_of_tile) {
      const int column = index % of_row * 4;
      const std::int64_t row = row_of(index / of_row);
      Four<Number> read = {};
      if (row >= 0 && column < columns) read = four(from.row(row) + head * columns + column, columns - column, factor);
      rows[index / of_row][index % of_row] = read;
    }
  }
  template <class From>
  constexpr Four<Number> four(const From* from, std::int64_t left, Number factor) const {
    Four<Number> read = {};
    if (in_fours) {
      const Four<From> given = *reinterpret_cast<const Four<From>*>(from);
      for (int i = 0; i < 4; ++i) read.of[i] = factor * static_cast<Number>(given.of[i]);
    } else {
      for (int i = 0; i < 4 && i < left; ++i) read.of[i] = factor * static_cast<Number>(from[i]);
    }
    return read;
  }
  template <class From>
  constexpr void load_queries(const TileRows<const From>& from, const Queries& queries, std::int64_t head,
                              Number factor, int thread, QueryRows& rows) const {
    load(
        from, head, factor, thread,
        [&queries](int place) { return place < queries.count ? queries.first + place : std::int64_t{-1}; }, rows);
  }
  constexpr void load_keys(const TileRows<const Given>& from, std::int64_t key_tile, std::int64_t head, int thread,
                           KeyRows& rows) const {
    load(
        from, head, Number{1}, thread,
        [this, key_tile](int place) { return tables.key_rows[key_tile * keys_of_tile + place]; }, rows);
  }

  /// Products of the queries' rows with the keys', a thread's share of them: of queries as far from one another as
  /// there are threads one below the other, and of keys as far as there are side by side. Of `count` queries and
  /// `extent` keys; the others' are left, or are anything.
  constexpr void multiply(const QueryRows& left, const KeyRows& right, int count, int extent, int thread,
                          Weights& products) const {
    if (count <= threads_down) return multiply_down<1>(left, right, extent, thread, products);
    multiply_down<queries_of_tile / threads_down>(left, right, extent, thread, products);
  }
  template <int down>
  constexpr void multiply_down(const QueryRows& left, const KeyRows& right, int extent, int thread,
                               Weights& products) const {
    if (extent <= threads_across) return multiply_share<down, 1>(left, right, thread, products);
    if (extent <= 2 * threads_across) return multiply_share<down, 2>(left, right, thread, products);
    if (extent <= 3 * threads_across) return multiply_share<down, 3>(left, right, thread, products);
    multiply_share<down, keys_of_tile / threads_across>(left, right, thread, products);
  }
  template <int down, int across>
  constexpr void multiply_share(const QueryRows& left, const KeyRows& right, int thread, Weights& products) const {
    const int first_query = thread / threads_across;
    const int first_key = thread % threads_across;
    Number sums[down][across] = {};
    for (int column = 0; column < most / 4; ++column) {
      Four<Number> of_keys[across];
      for (int j = 0; j < across; ++j) of_keys[j] = right[first_key + threads_across * j][column];
      for (int i = 0; i < down; ++i) {
        const Four<Number> of_query = left[first_query + threads_down * i][column];
        for (int j = 0; j < across; ++j)
          for (int k = 0; k < 4; ++k) sums[i][j] = std::fma(of_query.of[k], of_keys[j].of[k], sums[i][j]);
      }
    }
    for (int i = 0; i < down; ++i)
      for (int j = 0; j < across; ++j)
        number(products[first_query + threads_down * i], first_key + threads_across * j) = sums[i][j];
  }

  template <int fours>
  static constexpr Number& number(Four<Number> (&row)[fours], int column) {
    return row[column / 4].of[column % 4];
  }

  /// The column of a head that is a thread's `j`th: those that are read at once lie together.
  static constexpr int at_once = of_thread < 4 ? of_thread : 4;
  static constexpr int column_of(int thread, int j) {
    return (thread % threads_across + threads_across * (j / at_once)) * at_once + j % at_once;
  }
  /// A thread's columns of a row of a tile.
  template <int fours>
  static constexpr void read_columns(const Four<Number> (&row)[fours], int thread, Number (&of_columns)[of_thread]) {
    for (int j = 0; j < of_thread; j += at_once) {
      const int column = column_of(thread, j);
      const Four<Number>& four = row[column / 4];
      if constexpr (at_once == 4) {
        const Four<Number> all = four;
        for (int k = 0; k < 4; ++k) of_columns[j + k] = all.of[k];
      } else {
        for (int k = 0; k < at_once; ++k) of_columns[j + k] = four.of[column % 4 + k];
      }
    }
  }

  /// sums += weights * the keys' rows: a thread's share, of queries as far from one another as there are threads one
  /// below the other, and its columns.
  template <int down>
  static constexpr void add_rows_of_keys(const Weights& weights, const KeyRows& rows, int extent, int thread,
                                         Number (&sums)[queries_of_tile / threads_down][of_thread]) {
    const int first_query = thread / threads_across;
    for (int key = 0; key < extent; key += 4) {
      Four<Number> of_queries[down];
      for (int i = 0; i < down; ++i) of_queries[i] = weights[first_query + threads_down * i][key / 4];
      for (int k = 0; k < 4; ++k) {
        Number of_key[of_thread];
        read_columns(rows[key + k], thread, of_key);
        for (int i = 0; i < down; ++i)
          for (int j = 0; j < of_thread; ++j) sums[i][j] = std::fma(of_queries[i].of[k], of_key[j], sums[i][j]);
      }
    }
  }
  static constexpr void add_rows_of_keys(const Weights& weights, const KeyRows& rows, int count, int extent, int thread,
                                         Number (&sums)[queries_of_tile / threads_down][of_thread]) {
    if (count <= threads_down) return add_rows_of_keys<1>(weights, rows, extent, thread, sums);
    add_rows_of_keys<queries_of_tile / threads_down>(weights, rows, extent, thread, sums);
  }

  /// visit(column of the tile, whether this query sees it, whether dropout keeps it): the share of a query's weights
  /// that is this thread's. Of queries that are none, nothing.
  template <class Visit>
  constexpr void for_each_weight(const Queries& queries, std::int64_t key_tile, std::int64_t head, int thread,
                                 const Visit& visit) const {
    const int query = thread / parts_of_query;
    if (query >= queries.count) return;
    const std::int64_t row = queries.first + query;
    const std::int64_t first = first_position(key_tile);
    const std::uint64_t seen = seen_of(key_tile, row);
    const RowDraw of_row =
        draw.of_row(tables.sequence[row], tables.position[row], static_cast<std::uint32_t>(first_head + head));
    const std::int64_t lane = thread % parts_of_query * lanes_of_part;
    const auto first_call = static_cast<std::uint32_t>(first / keys_of_tile * lanes_of_block + lane);
    for (std::uint32_t call = first_call; call < first_call + lanes_of_part; ++call)
      of_row.decide(call, [&](std::uint32_t position, bool is_kept) {
        const auto column = static_cast<int>(position - first);
        visit(column, (seen >> column & 1) != 0, is_kept);
      });
  }
};

/// The way there. A block sees to a tile of queries in one head.
template <class Number, class Given, int most>
struct AttentionForward {
  using Tiles = AttentionTiles<Number, Given, most>;
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
        return tiles.multiply(shared.queries, shared.keys, queries.count, tiles.extent(key_tile), thread,
                              shared.weights);
      case 2:
        find_most(queries, key_tile, head, thread, shared);
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
    shared.most_logit[thread] = Tiles::nothing;
    shared.sum[thread] = 0;
  }

  constexpr void find_most(const typename Tiles::Queries& queries, std::int64_t key_tile, std::int64_t head, int thread,
                           Shared& shared) const {
    const int query = thread / parts_of_query;
    Number most_logit = Tiles::nothing;
    tiles.for_each_weight(queries, key_tile, head, thread, [&](int column, bool is_seen, bool) {
      Number& logit = Tiles::number(shared.weights[query], column);
      if (!is_seen) logit = Tiles::nothing;
      if (logit > most_logit || logit != logit) most_logit = logit;  // what is not a number stays that
    });
    shared.part_most[thread % parts_of_query][query] = most_logit;
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
    const int query = thread / parts_of_query;
    const Number most_logit = most_so_far(query, shared);
    Number sum = 0;
    tiles.for_each_weight(queries, key_tile, head, thread, [&](int column, bool, bool is_kept) {
      Number& weight = Tiles::number(shared.weights[query], column);
      weight = weight == Tiles::nothing ? Number{0} : std::exp(weight - most_logit);
      sum += weight;
      weight = is_kept ? tiles.kept_scale * weight : Number{0};
    });
    shared.part_sum[thread % parts_of_query][query] = sum;
    if (thread % parts_of_query > 0) return;
    const Number before = shared.most_logit[query];
    shared.factor[query] = before == Tiles::nothing ? Number{0} : std::exp(before - most_logit);
  }

  constexpr void add(int count, int extent, int thread, Registers& registers, Shared& shared) const {
    for (int i = 0; i < queries_of_tile / threads_down; ++i)
      for (Number& number : registers.output[i]) number *= shared.factor[thread / threads_across + threads_down * i];
    Tiles::add_rows_of_keys(shared.weights, shared.keys, count, extent, thread, registers.output);
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
        const int column = Tiles::column_of(thread, j);
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
template <class Number, class Given, int most, class Shared>
constexpr void go_back_through_softmax(const AttentionTiles<Number, Given, most>& tiles,
                                       const typename AttentionTiles<Number, Given, most>::Queries& queries,
                                       std::int64_t key_tile, std::int64_t head, int thread, Shared& shared) {
  using Tiles = AttentionTiles<Number, Given, most>;
  const int query = thread / parts_of_query;
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
  if (query < queries.count) return;
  for (int column = thread % parts_of_query; column < keys_of_tile; column += parts_of_query) {
    Tiles::number(shared.weights[query], column) = 0;
    Tiles::number(shared.gradients[query], column) = 0;
  }
}

/// The way back to the queries. A block sees to a tile of them in one head.
template <class Number, class Given, int most>
struct AttentionBackToQueries {
  using Tiles = AttentionTiles<Number, Given, most>;
  Tiles tiles;
  TileRows<const Number> output;    // [query rows, heads * columns]
  TileRows<const Number> log_sum;   // [query rows, heads]
  TileRows<const Given> gradient;   // [query rows, heads * columns]: of the output
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
        tiles.multiply(shared.queries, shared.keys, queries.count, tiles.extent(key_tile), thread, shared.weights);
        return tiles.multiply(shared.given, shared.values, queries.count, tiles.extent(key_tile), thread,
                              shared.gradients);
      case 2:
        return go_back_through_softmax(tiles, queries, key_tile, head, thread, shared);
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
    tiles.load_queries(gradient, queries, head, Number{1}, thread, shared.given);
    for (auto& of_query : registers.gradient)
      for (Number& number : of_query) number = 0;
    const int query = thread / parts_of_query;
    Number part = 0;
    if (query < queries.count) {
      const std::int64_t row = queries.first + query;
      for (std::int64_t column = thread % parts_of_query; column < tiles.columns; column += parts_of_query)
        part = std::fma(output.row(row)[head * tiles.columns + column],
                        static_cast<Number>(gradient.row(row)[head * tiles.columns + column]), part);
    }
    shared.part_mean[thread % parts_of_query][query] = part;
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
      for (int j = 0; j < Tiles::of_thread; ++j) {
        const int column = Tiles::column_of(thread, j);
        if (column >= tiles.columns) continue;
        Number& number = query_gradient.row(queries.first + query)[head * tiles.columns + column];
        number = (query_filled ? number : Number{0}) + tiles.scale * registers.gradient[i][j];
      }
    }
  }
};

/// The way back to keys and values, after that to the queries. A block sees to a tile of them in one head.
template <class Number, class Given, int most>
struct AttentionBackToKeys {
  using Tiles = AttentionTiles<Number, Given, most>;
  Tiles tiles;
  TileRows<const Number> log_sum;   // [query rows, heads]
  TileRows<const Given> gradient;   // [query rows, heads * columns]: of the output
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
    const std::int64_t sequence = tiles.sequence_of(block / tiles.heads);
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
        tiles.multiply(shared.queries, shared.keys, queries.count, tiles.extent(key_tile), thread, shared.weights);
        return tiles.multiply(shared.given, shared.values, queries.count, tiles.extent(key_tile), thread,
                              shared.gradients);
      case 2:
        return go_back_through_softmax(tiles, queries, key_tile, head, thread, shared);
      default:
        return add(queries.count, thread, registers, shared);
    }
  }

 private:
  static constexpr int stages_of_tile = 4;
  static constexpr int keys_of_thread = keys_of_tile / threads_down;  // one after the other

  /// The first of the sequence's that sees any of the block's keys.
  constexpr std::int64_t first_query_tile(std::int64_t block) const {
    const std::int64_t key_tile = block / tiles.heads;
    const std::int64_t sequence = tiles.sequence_of(key_tile);
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

  constexpr void add(int count, int thread, Registers& registers, const Shared& shared) const {
    const int first_four = thread / threads_across * keys_of_thread / 4;
    for (int query = 0; query < count; ++query) {
      Number of_query[Tiles::of_thread];
      Number of_given[Tiles::of_thread];
      Tiles::read_columns(shared.queries[query], thread, of_query);
      Tiles::read_columns(shared.given[query], thread, of_given);
      for (int four = 0; four < keys_of_thread / 4; ++four) {
        const Four<Number> weights = shared.weights[query][first_four + four];
        const Four<Number> gradients = shared.gradients[query][first_four + four];
        for (int k = 0; k < 4; ++k)
          for (int j = 0; j < Tiles::of_thread; ++j) {
            Number& of_key = registers.of_keys[4 * four + k][j];
            Number& of_value = registers.of_values[4 * four + k][j];
            of_key = std::fma(gradients.of[k], of_query[j], of_key);
            of_value = std::fma(weights.of[k], of_given[j], of_value);
          }
      }
    }
  }

  constexpr void finish(std::int64_t key_tile, std::int64_t head, int thread, const Registers& registers) const {
    for (int i = 0; i < keys_of_thread; ++i) {
      const int key = thread / threads_across * keys_of_thread + i;
      const std::int64_t row = tiles.tables.key_rows[key_tile * keys_of_tile + key];
      if (row < 0) continue;
      for (int j = 0; j < Tiles::of_thread; ++j) {
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
