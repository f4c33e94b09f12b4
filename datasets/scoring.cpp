#include "datasets/scoring.h"

#include <algorithm>

namespace ut::datasets {
namespace {

double share(std::int64_t part, std::int64_t whole) {
  return whole == 0 ? 0 : static_cast<double>(part) / static_cast<double>(whole);
}

}  // namespace

Score& Score::operator+=(const Score& other) {
  symbols += other.symbols;
  right_symbols += other.right_symbols;
  sequences += other.sequences;
  right_sequences += other.right_sequences;
  return *this;
}

double Score::symbol_accuracy() const { return share(right_symbols, symbols); }

double Score::sequence_accuracy() const { return share(right_sequences, sequences); }

void count(Score& score, const std::vector<std::int64_t>& predicted, const std::vector<std::int64_t>& reference) {
  const std::size_t common = std::min(predicted.size(), reference.size());
  for (std::size_t place = 0; place < common; ++place)
    if (predicted[place] == reference[place]) ++score.right_symbols;
  score.symbols += static_cast<std::int64_t>(std::max(predicted.size(), reference.size()));
  score.sequences += 1;
  if (predicted == reference) ++score.right_sequences;
}

}  // namespace ut::datasets
