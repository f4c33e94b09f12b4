#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "base/span.h"
#include "core/kernels/key_rows.h"
#include "core/kernels/tiled_spans.h"
#include "dist/rows.h"

namespace ut::core {

/// The keys of one sequence, in evenly spaced rows; their positions ascend.
struct KeySpan {
  /// Keys of successive positions.
  struct Run {
    std::int64_t first;     // the first key, counted in the sequence
    std::int64_t position;  // its position
    std::int64_t count;
  };

  std::int64_t row = 0;  // of the first key
  std::int64_t stride = 1;
  std::int64_t count = 0;
  std::vector<Run> runs;
};

/// Where each sequence's queries and keys stand, and who may see whom.
struct RowSpans {
  std::vector<base::Span> queries = {};     // [sequences]
  std::vector<KeySpan> keys = {};           // [sequences]
  std::vector<std::int64_t> sequence = {};  // [query rows]: identities
  std::vector<std::int64_t> position = {};  // [query rows]
  bool causal = false;                      // a query sees the keys of positions up to its own
  std::optional<TiledSpans> tiled = {};     // instead of the others, if the rows are on a device

  std::int64_t key_count() const;
};

/// Arguments as for AttentionLayout. On the host null if a sequence's keys are not in evenly spaced rows.
std::shared_ptr<const RowSpans> row_spans(const dist::Rows& queries, const dist::Rows& keys, bool causal,
                                          const KeyRows& key_rows = {}, at::Device device = at::kCPU);

}  // namespace ut::core
