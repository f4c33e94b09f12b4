#include "datasets/bleu.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <map>
#include <span>

#include "base/error.h"

namespace ut::datasets {
namespace {

using Tokens = std::vector<std::string>;
using Ngram = std::span<const std::string>;

struct Alphabetically {
  bool operator()(Ngram a, Ngram b) const { return std::ranges::lexicographical_compare(a, b); }
};

/// How often each n-gram occurs. The n-grams point into `tokens`.
std::map<Ngram, std::int64_t, Alphabetically> ngrams(const Tokens& tokens, std::size_t order) {
  std::map<Ngram, std::int64_t, Alphabetically> counts;
  for (std::size_t begin = 0; begin + order <= tokens.size(); ++begin) ++counts[Ngram(tokens).subspan(begin, order)];
  return counts;
}

std::int64_t nearest_length(std::int64_t length, const std::vector<Tokens>& references) {
  std::int64_t nearest = std::ssize(references.front());
  for (const Tokens& reference : references) {
    const std::int64_t other = std::ssize(reference);
    const std::int64_t nearer = std::abs(nearest - length) - std::abs(other - length);
    if (nearer > 0 || (nearer == 0 && other < nearest)) nearest = other;
  }
  return nearest;
}

Tokens tokens_of(const std::string& line, const BleuOptions& options, const std::string& name, std::size_t number) {
  try {
    return bleu_tokens(line, options.tokens, options.lower_cased);
  } catch (const base::BadInput& error) {
    throw base::BadInput("{}, line {}: {}", name, number + 1, error.what());
  }
}

bool is_smoothed(const BleuOptions& options) { return options.tokens != BleuTokens::tokenised_split; }

}  // namespace

BleuCounts& BleuCounts::operator+=(const BleuCounts& other) {
  for (std::size_t order = 0; order < bleu_orders; ++order) {
    matched[order] += other.matched[order];
    total[order] += other.total[order];
  }
  length += other.length;
  reference_length += other.reference_length;
  return *this;
}

BleuCounts count_ngrams(const Tokens& tokens, const std::vector<Tokens>& references) {
  BleuCounts counts;
  counts.length = std::ssize(tokens);
  counts.reference_length = nearest_length(counts.length, references);
  for (std::size_t order = 0; order < bleu_orders; ++order) {
    auto allowed = ngrams(references.front(), order + 1);
    for (const Tokens& reference : std::span(references).subspan(1))
      for (const auto& [ngram, count] : ngrams(reference, order + 1)) {
        std::int64_t& most = allowed[ngram];
        most = std::max(most, count);
      }
    for (const auto& [ngram, count] : ngrams(tokens, order + 1)) {
      counts.total[order] += count;
      if (const auto found = allowed.find(ngram); found != allowed.end())
        counts.matched[order] += std::min(count, found->second);
    }
  }
  return counts;
}

Bleu bleu_of(const BleuCounts& counts, const BleuOptions& options) {
  Bleu bleu;
  bleu.counts = counts;
  const auto length = static_cast<double>(counts.length);
  const auto wanted = static_cast<double>(counts.reference_length);
  bleu.brevity_penalty = length >= wanted ? 1 : length > 0 ? std::exp(1 - wanted / length) : 0;
  if (counts.matched.front() == 0) return bleu;
  double halved = 1;
  double logarithms = 0;
  for (std::size_t order = 0; order < bleu_orders; ++order) {
    const auto total = static_cast<double>(counts.total[order]);
    if (counts.total[order] == 0) return bleu;
    if (counts.matched[order] > 0) {
      bleu.precisions[order] = 100 * static_cast<double>(counts.matched[order]) / total;
    } else if (is_smoothed(options)) {
      halved /= 2;
      bleu.precisions[order] = 100 * halved / total;
    }
    logarithms += std::log(bleu.precisions[order]);  // minus infinity if it is 0
  }
  bleu.score = bleu.brevity_penalty * std::exp(logarithms / bleu_orders);
  return bleu;
}

Bleu corpus_bleu(const std::vector<std::string>& lines, const std::vector<std::vector<std::string>>& references,
                 const BleuOptions& options) {
  for (std::size_t reference = 0; reference < references.size(); ++reference)
    if (references[reference].size() != lines.size())
      throw base::BadInput("reference {}: {} lines, but there are {} hypotheses; a line for each is needed",
                           reference + 1, references[reference].size(), lines.size());
  BleuCounts counts;
  for (std::size_t line = 0; line < lines.size(); ++line) {
    std::vector<Tokens> right;
    for (std::size_t reference = 0; reference < references.size(); ++reference)
      right.push_back(
          tokens_of(references[reference][line], options, fmt::format("reference {}", reference + 1), line));
    counts += count_ngrams(tokens_of(lines[line], options, "hypotheses", line), right);
  }
  return bleu_of(counts, options);
}

std::string bleu_signature(std::size_t references, const BleuOptions& options) {
  return fmt::format("nrefs:{}|case:{}|eff:no|tok:{}|smooth:{}", references, options.lower_cased ? "lc" : "mixed",
                     bleu_tokens_name(options.tokens), is_smoothed(options) ? "exp|version:2.6.0" : "none");
}

std::string describe(const Bleu& bleu) {
  const BleuCounts& counts = bleu.counts;
  const double ratio = counts.reference_length == 0
                           ? 0
                           : static_cast<double>(counts.length) / static_cast<double>(counts.reference_length);
  return fmt::format("{:.2f} {:.1f}/{:.1f}/{:.1f}/{:.1f} (BP = {:.3f} ratio = {:.3f} hyp_len = {} ref_len = {})",
                     bleu.score, bleu.precisions[0], bleu.precisions[1], bleu.precisions[2], bleu.precisions[3],
                     bleu.brevity_penalty, ratio, counts.length, counts.reference_length);
}

}  // namespace ut::datasets
