#include "core/kernels/row_spans.h"

#include <ATen/ATen.h>

#include <utility>

namespace ut::core {
namespace {

std::vector<std::int64_t> numbers_of(const at::Tensor& of_rows) {
  const auto* data = of_rows.const_data_ptr<std::int64_t>();
  return {data, data + of_rows.numel()};
}

}  // namespace

std::int64_t RowSpans::key_count() const {
  if (tiled) return tiled->keys();
  std::int64_t count = 0;
  for (const KeySpan& of_sequence : keys) count += of_sequence.count;
  return count;
}

std::shared_ptr<const RowSpans> row_spans(const dist::Rows& queries, const dist::Rows& keys, bool causal,
                                          const KeyRows& key_rows, at::Device device) {
  if (!device.is_cpu())
    return std::make_shared<const RowSpans>(RowSpans{.tiled = TiledSpans(queries, keys, causal, device, key_rows)});
  const std::vector<std::int64_t> position = numbers_of(keys.position);
  RowSpans spans{.sequence = numbers_of(queries.sequence), .position = numbers_of(queries.position), .causal = causal};
  for (std::size_t index = 0; index + 1 < queries.offsets.size(); ++index) {
    spans.queries.push_back({queries.offsets[index], queries.offsets[index + 1]});
    const std::int64_t begin = keys.offsets[index];
    KeySpan& of_sequence = spans.keys.emplace_back();
    of_sequence.count = keys.offsets[index + 1] - begin;
    if (of_sequence.count > 0) of_sequence.row = key_rows.of(begin);
    if (of_sequence.count > 1) of_sequence.stride = key_rows.of(begin + 1) - of_sequence.row;
    if (of_sequence.stride < 1) return nullptr;
    for (std::int64_t key = 0; key < of_sequence.count; ++key) {
      if (key_rows.of(begin + key) != of_sequence.row + key * of_sequence.stride) return nullptr;
      const std::int64_t here = position[static_cast<std::size_t>(begin + key)];
      auto& runs = of_sequence.runs;
      if (runs.empty() || runs.back().position + runs.back().count != here) runs.push_back({key, here, 0});
      ++runs.back().count;
    }
  }
  return std::make_shared<const RowSpans>(std::move(spans));
}

}  // namespace ut::core
