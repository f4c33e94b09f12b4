#include "core/dropout.h"

#include <ATen/ATen.h>
#include <ATen/Dispatch.h>
#include <ATen/Parallel.h>

#include <algorithm>
#include <array>

#include "base/philox.h"

namespace ut::core {
namespace {

constexpr std::size_t lanes = 8;
constexpr std::size_t block_words = 4 * lanes;  // random words made at a time

/// Philox for `lanes` counters that differ in their first word only, side by side so that the compiler can use vector
/// instructions: word w of lane l goes to words[w * lanes + l]. Equals base::philox, as a test checks.
__attribute__((target_clones("avx512f", "avx2", "default"))) void philox_block(std::uint32_t first,
                                                                               std::array<std::uint32_t, 3> rest,
                                                                               std::uint64_t key,
                                                                               std::uint32_t* words) {
  std::uint32_t counter[4][lanes];
  for (std::size_t lane = 0; lane < lanes; ++lane) {
    counter[0][lane] = first + static_cast<std::uint32_t>(lane);
    for (std::size_t word = 0; word < 3; ++word) counter[word + 1][lane] = rest[word];
  }
  auto key_low = static_cast<std::uint32_t>(key);
  auto key_high = static_cast<std::uint32_t>(key >> 32);
  for (int round = 0; round < 10; ++round) {
    for (std::size_t lane = 0; lane < lanes; ++lane) {
      const std::uint64_t product_0 = std::uint64_t{0xD2511F53} * counter[0][lane];
      const std::uint64_t product_2 = std::uint64_t{0xCD9E8D57} * counter[2][lane];
      counter[0][lane] = static_cast<std::uint32_t>(product_2 >> 32) ^ counter[1][lane] ^ key_low;
      counter[1][lane] = static_cast<std::uint32_t>(product_2);
      counter[2][lane] = static_cast<std::uint32_t>(product_0 >> 32) ^ counter[3][lane] ^ key_high;
      counter[3][lane] = static_cast<std::uint32_t>(product_0);
    }
    key_low += 0x9E3779B9;
    key_high += 0xBB67AE85;
  }
  for (std::size_t word = 0; word < 4; ++word)
    for (std::size_t lane = 0; lane < lanes; ++lane) words[word * lanes + lane] = counter[word][lane];
}

struct RowIdentity {
  std::int64_t sequence;
  std::int64_t position;
  std::uint32_t head;
  std::size_t first_column;
};

/// Writes 0 or 1 / (1 - rate) for each of a row's columns from its first on.
template <class Number>
void fill_row(const RowIdentity& row, double rate, const DropoutKey& key, std::span<Number> scales) {
  const auto dropped_below = static_cast<std::uint64_t>(rate * 0x1p32);
  const auto kept = static_cast<Number>(1 / (1 - rate));
  const std::array rest{static_cast<std::uint32_t>(row.position), static_cast<std::uint32_t>(row.sequence), key.place};
  std::uint32_t words[block_words];
  std::size_t skipped = row.first_column % block_words;
  std::uint32_t counter = (row.head << 24) + static_cast<std::uint32_t>(row.first_column / block_words * lanes);
  for (std::size_t begin = 0; begin < scales.size(); counter += lanes) {
    philox_block(counter, rest, key.update, words);
    const std::size_t count = std::min(block_words - skipped, scales.size() - begin);
    for (std::size_t index = 0; index < count; ++index)
      scales[begin + index] = words[skipped + index] < dropped_below ? Number{0} : kept;
    begin += count;
    skipped = 0;
  }
}

/// A tensor of scales shaped like `like`, whose last dimension is the row's columns.
template <class Identity>
at::Tensor scales(const at::Tensor& like, double rate, const DropoutKey& key, const Identity& identity) {
  at::Tensor result = at::empty(like.sizes(), like.options().device(at::kCPU));
  const std::int64_t columns = like.size(-1);
  const std::int64_t rows = columns == 0 ? 0 : like.numel() / columns;
  AT_DISPATCH_FLOATING_TYPES(result.scalar_type(), "dropout", [&] {
    auto* data = result.mutable_data_ptr<scalar_t>();
    at::parallel_for(0, rows, 1 + 4096 / std::max<std::int64_t>(1, columns), [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t row = begin; row < end; ++row)
        fill_row(identity(row), rate, key,
                 std::span<scalar_t>(data + row * columns, static_cast<std::size_t>(columns)));
    });
  });
  return result.to(like.device());
}

}  // namespace

DropoutKey DropoutKey::for_update(std::uint64_t seed, std::int64_t update) {
  return {base::mix(seed, static_cast<std::uint64_t>(update)), true, 0};
}

at::Tensor dropout(const at::Tensor& x, double rate, const DropoutKey& key, const dist::Rows& rows) {
  if (!key.active || rate == 0) return x;
  const auto* sequence = rows.sequence.const_data_ptr<std::int64_t>();
  const auto* position = rows.position.const_data_ptr<std::int64_t>();
  return x * scales(x, rate, key, [&](std::int64_t row) { return RowIdentity{sequence[row], position[row], 0, 0}; });
}

at::Tensor dropout_attention(const at::Tensor& weights, double rate, const DropoutKey& key,
                             std::span<const std::int64_t> sequence, std::span<const std::int64_t> position,
                             std::span<const std::int64_t> first_key) {
  if (!key.active || rate == 0) return weights;
  const std::int64_t heads = weights.size(1);
  const std::int64_t queries = weights.size(2);
  return weights * scales(weights, rate, key, [&](std::int64_t row) {
           const auto slot = static_cast<std::size_t>(row / (heads * queries) * queries + row % queries);
           const auto head = static_cast<std::uint32_t>(key.first_head + row / queries % heads);
           const std::int64_t first = first_key[static_cast<std::size_t>(row / (heads * queries))];
           return RowIdentity{sequence[slot], position[slot], head, static_cast<std::size_t>(first)};
         });
}

}  // namespace ut::core
