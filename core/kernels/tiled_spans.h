#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

#include "core/kernels/attention_tiles.h"
#include "core/kernels/key_rows.h"
#include "dist/rows.h"

namespace ut::core {

/// Where each sequence's queries and keys stand, in tables on the device whose kernels read them.
class TiledSpans {
 public:
  /// `queries` and `keys` list the same sequences.
  TiledSpans(const dist::Rows& queries, const dist::Rows& keys, bool causal, at::Device device,
             const KeyRows& key_rows);

  /// Valid as long as this lives.
  TileTables tables() const;
  std::int64_t query_tiles() const { return query_tiles_; }
  std::int64_t key_tiles() const { return key_tiles_; }
  std::int64_t keys() const { return keys_; }

 private:
  bool causal_;
  std::int64_t query_tiles_ = 0;
  std::int64_t key_tiles_ = 0;
  std::int64_t keys_;
  std::vector<std::int64_t> begins_;  // where each table begins in all_
  at::Tensor all_;                    // int64: the tables, one after the other
};

}  // namespace ut::core
