#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "datasets/bleu_tokens.h"

namespace ut::datasets {

inline constexpr std::size_t bleu_orders = 4;  // n-grams of one to four tokens

/// The counts that BLEU is made from; they add up over lines.
struct BleuCounts {
  std::array<std::int64_t, bleu_orders> matched{};  // n-grams found in a reference, at most as often as there
  std::array<std::int64_t, bleu_orders> total{};    // n-grams of the line
  std::int64_t length = 0;                          // tokens of the line
  std::int64_t reference_length = 0;                // of the reference nearest in length, the shorter one of two

  BleuCounts& operator+=(const BleuCounts& other);
};

/// Corpus BLEU (Papineni et al., 2002), from 0 to 100.
struct Bleu {
  double score = 0;
  std::array<double, bleu_orders> precisions{};  // from 0 to 100
  double brevity_penalty = 0;
  BleuCounts counts;
};

struct BleuOptions {
  BleuTokens tokens = BleuTokens::v13a;
  bool lower_cased = false;
};

/// Counts one line's tokens against those of its references, of which there must be at least one.
BleuCounts count_ngrams(const std::vector<std::string>& tokens,
                        const std::vector<std::vector<std::string>>& references);

/// The k-th order without a matched n-gram has the precision 1 / (2^k total) (mteval's smoothing, sacreBLEU's `exp`).
/// With BleuTokens::tokenised_split the score is 0 instead. It is also 0 if no token is matched, or an order has no
/// n-grams.
Bleu bleu_of(const BleuCounts& counts, const BleuOptions& options);

/// The score that sacreBLEU 2.6 gives or, for BleuTokens::tokenised_split, multi-bleu.perl, which does not smooth.
/// `references`: [references][lines], as many lines in each as in `lines`.
/// Throws base::BadInput naming the line that is not UTF-8, or if the numbers of lines differ.
Bleu corpus_bleu(const std::vector<std::string>& lines, const std::vector<std::vector<std::string>>& references,
                 const BleuOptions& options);

/// How the score was made, as sacreBLEU writes it: nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp|version:2.6.0
std::string bleu_signature(std::size_t references, const BleuOptions& options);

/// "39.69 69.4/46.3/33.3/24.6 (BP = 0.986 ratio = 0.986 hyp_len = 74884 ref_len = 75945)", as sacreBLEU writes it.
std::string describe(const Bleu& bleu);

}  // namespace ut::datasets
