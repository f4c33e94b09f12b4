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

/// As records have it.
inline const char* name_of(Scoring scoring) { return scoring == Scoring::decoded ? "decoded" : "teacher-forced"; }

/// How texts are scored: as sacreBLEU does where it is told nothing, and as the papers' translations were.
inline constexpr std::array<datasets::BleuOptions, 2> text_scorings = {
    {{}, {.tokens = datasets::BleuTokens::tokenised_split}}};
using TextCounts = std::array<datasets::BleuCounts, text_scorings.size()>;

/// What examples gave, over all ranks.
struct Results {
  datasets::Score score;
  std::optional<TextCounts> text;  // where the task's outputs are text and were decoded
  PonderHistograms ponder_times;

  /// Of text, which there is: as sacreBLEU computes it where it is told nothing.
  datasets::Bleu bleu() const;
};

/// bAbI's tasks of which more is wrong count as failed in the papers' tables.
inline constexpr double failed_above = 0.05;

/// What a split's examples gave, over all ranks.
struct Evaluation : Results {
  double loss = 0;              // cross entropy a label, without smoothing; 0 where outputs were decoded
  std::int64_t labels = 0;      // that it is the mean of, end of sequence included; of answers those in the vocabulary
  std::vector<Results> groups;  // of the task, each apart
  Scoring scoring = Scoring::decoded;
  std::int64_t beam = 1;  // that outputs were decoded with

  /// Groups that have examples, the mean of their accuracies, and those whose error is above failed_above.
  std::int64_t scored_groups() const;
  double mean_of_groups() const;
  std::int64_t failed_tasks() const;
  /// What training is steered by: the accuracy of answers, or of symbols; of decoded texts BLEU / 100.
  double steering_score() const;
  /// e to the loss: of a language model, a label.
  double perplexity() const;
};

/// Scores up to `limit` (0: all) examples of a split, from all over it. The ranks share the work; each gets the whole
/// result. None where `stop`, asked before each batch and of one mind on all ranks, says so. Collective.
std::optional<Evaluation> evaluate_split(const Session& session, const core::Model& model, datasets::Split split,
                                         const core::Steps& steps, Scoring scoring, std::int64_t limit,
                                         const std::function<bool()>& stop = {}, const See& see = {});

}  // namespace ut::launcher
