#pragma once

#include <cstdint>
#include <vector>

namespace ut::datasets {

/// Counts of right symbols and right sequences; added up over batches and ranks.
struct Score {
  std::int64_t symbols = 0;
  std::int64_t right_symbols = 0;
  std::int64_t sequences = 0;
  std::int64_t right_sequences = 0;

  Score& operator+=(const Score& other);
  double symbol_accuracy() const;    // 0 if nothing was counted
  double sequence_accuracy() const;  // 0 if nothing was counted
};

/// Counts `predicted` against `reference` place by place (both without end of sequence). A place that only one of
/// them has counts as a wrong symbol, so that a short or a long output is not rewarded.
void count(Score& score, const std::vector<std::int64_t>& predicted, const std::vector<std::int64_t>& reference);

}  // namespace ut::datasets
