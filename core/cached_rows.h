#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "core/decoding_cache.h"
#include "core/options.h"
#include "core/stack_rows.h"

namespace ut::core {

/// The rows of one new position of some sequences, which see the positions before it in the cache.
struct NewPosition {
  std::int64_t position;               // from 0
  std::vector<std::int64_t> sequence;  // numbers of the sequences in the cache, ascending
  std::vector<std::int64_t> id;        // [sequences of the cache]: their identities
  std::int64_t width = 1;              // sequences of the cache for each sequence of the memory
};

/// A decoder's rows for one more symbol, for one pass of `steps` steps. Their mean_over_sequence() throws
/// std::logic_error, because ActKind::global needs positions that are not decoded yet. `memory` (null if there is none)
/// and `cache` must outlive the rows.
std::shared_ptr<StackRows> make_cached_rows(DecodingCache& cache, NewPosition rows, Halting halting, std::int64_t steps,
                                            const dist::Rows* memory);

}  // namespace ut::core
