#include "core/kernels/tiled_spans.h"

#include <span>

#include "dist/on_device.h"

namespace ut::core {
namespace {

using Table = std::vector<std::int64_t>;

struct Tables {
  Table query_tile_offsets{0};
  Table key_tile_offsets{0};
  Table query_tiles;
  Table key_tiles;
  Table key_rows;
};

void add_queries(const dist::Rows& queries, std::int64_t sequence, Tables& tables) {
  const auto index = static_cast<std::size_t>(sequence);
  const std::int64_t count = queries.offsets[index + 1] - queries.offsets[index];
  for (std::int64_t first = 0; first < count; first += queries_of_tile) tables.query_tiles.push_back(sequence);
  tables.query_tile_offsets.push_back(std::ssize(tables.query_tiles));
}

/// Adds a tile for each block of positions that has a key.
void add_keys(const dist::Rows& keys, std::int64_t sequence, const KeyRows& key_rows, Tables& tables) {
  const auto index = static_cast<std::size_t>(sequence);
  const auto* position = keys.position.const_data_ptr<std::int64_t>();
  std::int64_t block = -1;
  for (std::int64_t key = keys.offsets[index]; key < keys.offsets[index + 1]; ++key) {
    if (position[key] / keys_of_tile != block) {
      block = position[key] / keys_of_tile;
      tables.key_tiles.insert(tables.key_tiles.end(), {sequence, block * keys_of_tile, 0, 0});
      tables.key_rows.resize(tables.key_rows.size() + keys_of_tile, -1);
    }
    const std::int64_t column = position[key] % keys_of_tile;
    *(tables.key_tiles.end() - 2) = column + 1;
    tables.key_tiles.back() |= static_cast<std::int64_t>(std::uint64_t{1} << column);
    tables.key_rows[tables.key_rows.size() - static_cast<std::size_t>(keys_of_tile - column)] = key_rows.of(key);
  }
  tables.key_tile_offsets.push_back(std::ssize(tables.key_tiles) / numbers_of_key_tile);
}

std::span<const std::int64_t> span_of(const at::Tensor& of_rows) {
  return {of_rows.const_data_ptr<std::int64_t>(), static_cast<std::size_t>(of_rows.numel())};
}

}  // namespace

TiledSpans::TiledSpans(const dist::Rows& queries, const dist::Rows& keys, bool causal, at::Device device,
                       const KeyRows& key_rows)
    : causal_(causal), keys_(keys.count()) {
  Tables tables;
  for (std::int64_t sequence = 0; sequence < queries.sequences(); ++sequence) {
    add_queries(queries, sequence, tables);
    add_keys(keys, sequence, key_rows, tables);
  }
  query_tiles_ = std::ssize(tables.query_tiles);
  key_tiles_ = std::ssize(tables.key_tiles) / numbers_of_key_tile;
  Table all;
  for (const std::span<const std::int64_t> part :
       {std::span<const std::int64_t>(queries.offsets), std::span<const std::int64_t>(tables.query_tile_offsets),
        std::span<const std::int64_t>(tables.key_tile_offsets), std::span<const std::int64_t>(tables.query_tiles),
        std::span<const std::int64_t>(tables.key_tiles), std::span<const std::int64_t>(tables.key_rows),
        span_of(queries.sequence), span_of(queries.position)}) {
    begins_.push_back(std::ssize(all));
    all.insert(all.end(), part.begin(), part.end());
  }
  all_ = dist::on_device(all, device);
}

TileTables TiledSpans::tables() const {
  const auto table = [this, all = all_.const_data_ptr<std::int64_t>()](std::size_t number) {
    return all + begins_[number];
  };
  return {table(0), table(1), table(2), table(3), table(4), table(5), table(6), table(7), causal_};
}

}  // namespace ut::core
