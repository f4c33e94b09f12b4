#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/model.h"
#include "datasets/bleu.h"
#include "datasets/scoring.h"
#include "launcher/run/ponder_histogram.h"
#include "launcher/run/scored_example.h"
#include "launcher/run/session.h"

namespace ut::launcher {

/// The name that records use.
inline const char* name_of(Scoring scoring) { return scoring == Scoring::decoded ? "decoded" : "teacher-forced"; }

/// How texts are scored: as sacreBLEU does by default, and as the papers' translations were.
inline constexpr std::array<datasets::BleuOptions, 2> text_scorings = {
    {{}, {.tokens = datasets::BleuTokens::tokenised_split}}};
using TextCounts = std::array<datasets::BleuCounts, text_scorings.size()>;

/// The results of some examples, over all ranks.
struct Results {
  datasets::Score score;
  std::optional<TextCounts> text;  // if the task's outputs are text and were decoded
  PonderHistograms ponder_times;

  /// BLEU as sacreBLEU computes it by default. `text` must be there.
  datasets::Bleu bleu() const;
};

/// A bAbI task with a larger error counts as failed in the papers' tables.
inline constexpr double failed_above = 0.05;

/// The results of a split's examples, over all ranks.
struct Evaluation : Results {
  double loss = 0;  // cross entropy per label, without smoothing; 0 if outputs were decoded
  // Labels that the loss is the mean of, end of sequence included; for answers, only those in the vocabulary.
  std::int64_t labels = 0;
  std::vector<Results> groups;  // of each of the task's groups
  Scoring scoring = Scoring::decoded;
  std::int64_t beam = 1;  // that outputs were decoded with

  /// The number of groups that have examples, the mean of their accuracies, and the number whose error is above
  /// failed_above.
  std::int64_t scored_groups() const;
  double mean_of_groups() const;
  std::int64_t failed_tasks() const;
  /// The score that steers training. BLEU is divided by 100.
  double steering_score(BestBy by) const;
  /// e to the loss: per label of a language model.
  double perplexity() const;
};

/// Scores up to `limit` (0: all) examples of a split, from all over it. The ranks share the work; each gets the whole
/// result. None if `stop`, which is asked before each batch and must answer alike on all ranks, says so; it should be
/// collective, so that no rank comes to the end long before the others. `visit`, if given, is shown each example on the
/// first rank of the group that shares it. Collective.
std::optional<Evaluation> evaluate_split(const Session& session, const core::Model& model, datasets::Split split,
                                         const core::Steps& steps, Scoring scoring, std::int64_t limit,
                                         const std::function<bool()>& stop, const ExampleVisitor& visit = {});

}  // namespace ut::launcher
