#pragma once

#include <cmath>
#include <cstdint>
#include <limits>

#include "core/kernels/dropout_draw.h"

// Attention of rows over rows (equations 1 to 3, before W^O), forward and backward, as work for blocks of threads that
// share a tile of the weights. A block works in stages; on devices its threads wait for one another after each stage.
// What one thread keeps from stage to stage is in its `Registers`, what a block shares is in `Shared`. Each block
// writes what no other does, so sums come in the same order in every run. constexpr, so that it is compiled for the
// host too, where tests run blocks, stages and threads one after the other.
namespace ut::core {

constexpr int threads_of_tile = 128;
constexpr int queries_of_tile = 32;
constexpr int keys_of_tile = columns_of_block;  // of successive positions, for which dropout draws together
constexpr int threads_across = 16;              // a block's threads as a rectangle
constexpr int threads_down = threads_of_tile / threads_across;
constexpr int threads_per_query = threads_of_tile / queries_of_tile;  // threads that share one query's weights
constexpr std::int64_t lanes_per_thread = lanes_of_block / threads_per_query;

/// The most columns of a head: what a block shares has to fit into a device's shared memory.
template <class Number>
constexpr std::int64_t most_head_columns = sizeof(Number) > sizeof(float) ? 64 : 128;

/// Four numbers that are read and written at once.
template <class Number>
struct alignas(4 * sizeof(Number)) Four {
  Number of[4];
};

/// Some columns of rows, in the memory that kernels read.
template <class Number>
struct TileRows {
  Number* data;
  std::int64_t stride;  // from row to row

  constexpr Number* row(std::int64_t number) const { return data + number * stride; }
};

/// What a tile of keys has in TileTables::key_tiles: its sequence, the position of its first column, the number of
/// columns up to its last key, and a bit for each column that has a key.
constexpr int numbers_of_key_tile = 4;

/// Where each sequence's queries and keys stand, and who may see whom. All tables are int64.
struct TileTables {
  const std::int64_t* query_offsets;       // [sequences + 1]: first row
  const std::int64_t* query_tile_offsets;  // [sequences + 1]: first tile
  const std::int64_t* key_tile_offsets;    // [sequences + 1]: first tile
  const std::int64_t* query_tiles;         // [query tiles]: the sequence of each
  const std::int64_t* key_tiles;           // [key tiles, numbers_of_key_tile]
  const std::int64_t* key_rows;  // [key tiles, keys_of_tile]: the row of each column's key; -1: there is no key
  const std::int64_t* sequence;  // [query rows]: identities
  const std::int64_t* position;  // [query rows]; they ascend in a sequence
  bool causal;                   // a query sees the keys of positions up to its own
};

/// The first number from `begin` to `end` - 1 for which is_so() is true, else `end`. After that number it must stay
/// true.
template <class IsSo>
constexpr std::int64_t first_for_which(std::int64_t begin, std::int64_t end, const IsSo& is_so) {
  while (begin < end) {
    const std::int64_t middle = begin + (end - begin) / 2;
    if (is_so(middle))
      end = middle;
    else
      begin = middle + 1;
  }
  return begin;
}

/// What the forward and backward passes have in common. A head has at most `max_columns` columns. Inputs are of type
/// `Input`; computations are in type `Number`.
template <class Number, class Input, int max_columns>
struct AttentionTiles {
  TileTables tables;
  TileRows<const Input> query_rows;  // [query rows, heads * columns]
  TileRows<const Input> key_rows;    // [key rows, heads * columns]
  TileRows<const Input> value_rows;  // [key rows, heads * columns]
  std::int64_t heads;
  std::int64_t columns;     // of a head
  Number scale;             // of logits
  DropoutDraw draw;         // not bound to a row yet
  std::int64_t first_head;  // the number that head 0 here has for dropout
  Number kept_scale;        // of weights that dropout keeps
  bool in_fours;            // whether four columns of an input row can be read at once

  static constexpr int columns_per_thread = max_columns / threads_across;  // columns of a head that one thread computes
  static constexpr Number nothing = -std::numeric_limits<Number>::infinity();

  /// Rows of a tile, each longer by four numbers, so that neighbouring threads read from different memory banks.
  using QueryRows = Four<Number>[queries_of_tile][max_columns / 4 + 1];
  using KeyRows = Four<Number>[keys_of_tile][max_columns / 4 + 1];
  using Weights = Four<Number>[queries_of_tile][keys_of_tile / 4 + 1];

  struct Queries {
    std::int64_t sequence;  // its number among those here
    std::int64_t first;     // the first query's row
    int count;
  };
  constexpr Queries queries_of(std::int64_t tile) const {
    const std::int64_t sequence = tables.query_tiles[tile];
    const std::int64_t first =
        tables.query_offsets[sequence] + (tile - tables.query_tile_offsets[sequence]) * queries_of_tile;
    const std::int64_t left = tables.query_offsets[sequence + 1] - first;
    return {sequence, first, left < queries_of_tile ? static_cast<int>(left) : queries_of_tile};
  }
  constexpr std::int64_t key_tile_field(std::int64_t key_tile, int field) const {
    return tables.key_tiles[numbers_of_key_tile * key_tile + field];
  }
  constexpr std::int64_t sequence_of(std::int64_t key_tile) const { return key_tile_field(key_tile, 0); }
  constexpr std::int64_t first_position(std::int64_t key_tile) const { return key_tile_field(key_tile, 1); }
  constexpr int extent(std::int64_t key_tile) const { return static_cast<int>(key_tile_field(key_tile, 2)); }
  constexpr bool sees(std::int64_t query_row, std::int64_t position) const {
    return !tables.causal || position <= tables.position[query_row];
  }

  /// A bit for each column of a key tile whose key this query sees.
  constexpr std::uint64_t seen_of(std::int64_t key_tile, std::int64_t query_row) const {
    const auto keys = static_cast<std::uint64_t>(key_tile_field(key_tile, 3));
    if (!tables.causal) return keys;
    const std::int64_t last = tables.position[query_row] - first_position(key_tile);
    if (last < 0) return 0;
    return last >= keys_of_tile - 1 ? keys : keys & ((std::uint64_t{2} << last) - 1);
  }

  /// How many of their sequence's key tiles, from its first, any of these queries sees.
  constexpr std::int64_t key_tiles_of(const Queries& queries) const {
    const std::int64_t begin = tables.key_tile_offsets[queries.sequence];
    const std::int64_t last = queries.first + queries.count - 1;
    return first_for_which(begin, tables.key_tile_offsets[queries.sequence + 1],
                           [&](std::int64_t key_tile) { return !sees(last, first_position(key_tile)); }) -
           begin;
  }
  /// The first query tile of the key tile's sequence that sees any of its keys; the sequence's end if none does.
  constexpr std::int64_t first_query_tile_of(std::int64_t key_tile) const {
    const std::int64_t sequence = sequence_of(key_tile);
    return first_for_which(tables.query_tile_offsets[sequence], tables.query_tile_offsets[sequence + 1],
                           [&](std::int64_t tile) {
                             const Queries queries = queries_of(tile);
                             return sees(queries.first + queries.count - 1, first_position(key_tile));
                           });
  }

  /// Fills a tile's rows with a head's columns, times `factor`. row_of(place) is the row for a place of the tile.
  /// Places with a negative row, and columns beyond the head's, become zero.
  template <class From, int all_places, int fours, class RowOf>
  constexpr void load(const TileRows<const From>& from, std::int64_t head, Number factor, int thread,
                      const RowOf& row_of, Four<Number> (&rows)[all_places][fours]) const {
    constexpr int of_row = max_columns / 4;
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
  constexpr void load_keys(const TileRows<const Input>& from, std::int64_t key_tile, std::int64_t head, int thread,
                           KeyRows& rows) const {
    load(
        from, head, Number{1}, thread,
        [this, key_tile](int place) { return tables.key_rows[key_tile * keys_of_tile + place]; }, rows);
  }

  /// This thread's share of queries x keys^T: every threads_down-th query and every threads_across-th key, from its own
  /// first ones on. Products beyond `count` queries or `extent` keys are undefined.
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
    for (int column = 0; column < max_columns / 4; ++column) {
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

  /// The column of a head that is a thread's `j`th. Columns that are read at once are adjacent.
  static constexpr int columns_per_read = columns_per_thread < 4 ? columns_per_thread : 4;
  static constexpr int column_of(int thread, int j) {
    return (thread % threads_across + threads_across * (j / columns_per_read)) * columns_per_read +
           j % columns_per_read;
  }
  /// Reads a thread's columns of a row of a tile.
  template <int fours>
  static constexpr void read_columns(const Four<Number> (&row)[fours], int thread,
                                     Number (&of_columns)[columns_per_thread]) {
    for (int j = 0; j < columns_per_thread; j += columns_per_read) {
      const int column = column_of(thread, j);
      const Four<Number>& four = row[column / 4];
      if constexpr (columns_per_read == 4) {
        const Four<Number> all = four;
        for (int k = 0; k < 4; ++k) of_columns[j + k] = all.of[k];
      } else {
        for (int k = 0; k < columns_per_read; ++k) of_columns[j + k] = four.of[column % 4 + k];
      }
    }
  }

  /// sums += weights * the keys' rows, for a thread's share: every threads_down-th query, and the thread's columns.
  template <int down>
  static constexpr void add_rows_of_keys(const Weights& weights, const KeyRows& rows, int extent, int thread,
                                         Number (&sums)[queries_of_tile / threads_down][columns_per_thread]) {
    const int first_query = thread / threads_across;
    for (int key = 0; key < extent; key += 4) {
      Four<Number> of_queries[down];
      for (int i = 0; i < down; ++i) of_queries[i] = weights[first_query + threads_down * i][key / 4];
      for (int k = 0; k < 4; ++k) {
        Number of_key[columns_per_thread];
        read_columns(rows[key + k], thread, of_key);
        for (int i = 0; i < down; ++i)
          for (int j = 0; j < columns_per_thread; ++j)
            sums[i][j] = std::fma(of_queries[i].of[k], of_key[j], sums[i][j]);
      }
    }
  }
  static constexpr void add_rows_of_keys(const Weights& weights, const KeyRows& rows, int count, int extent, int thread,
                                         Number (&sums)[queries_of_tile / threads_down][columns_per_thread]) {
    if (count <= threads_down) return add_rows_of_keys<1>(weights, rows, extent, thread, sums);
    add_rows_of_keys<queries_of_tile / threads_down>(weights, rows, extent, thread, sums);
  }

  /// Calls visit(column of the tile, whether this query sees it, whether dropout keeps it) for the thread's share of a
  /// query's weights. Does nothing if the thread's query is beyond the tile's.
  template <class Visit>
  constexpr void for_each_weight(const Queries& queries, std::int64_t key_tile, std::int64_t head, int thread,
                                 const Visit& visit) const {
    const int query = thread / threads_per_query;
    if (query >= queries.count) return;
    const std::int64_t row = queries.first + query;
    const std::int64_t first = first_position(key_tile);
    const std::uint64_t seen = seen_of(key_tile, row);
    const DropoutDraw of_row =
        draw.of_row(tables.sequence[row], tables.position[row], static_cast<std::uint32_t>(first_head + head));
    const std::int64_t lane = thread % threads_per_query * lanes_per_thread;
    const auto first_call = static_cast<std::uint32_t>(first / keys_of_tile * lanes_of_block + lane);
    for (std::uint32_t call = first_call; call < first_call + lanes_per_thread; ++call)
      of_row.decide(call, [&](std::uint32_t position, bool is_kept) {
        const auto column = static_cast<int>(position - first);
        visit(column, (seen >> column & 1) != 0, is_kept);
      });
  }
};

}  // namespace ut::core
