#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/model.h"
#include "datasets/scoring.h"
#include "launcher/ponder_counts.h"
#include "launcher/session.h"

namespace ut::launcher {

/// How outputs are made for scoring: by the model's own symbols, or each from the right ones before it.
enum class Scoring { greedy, teacher_forced };

/// What examples gave, over all ranks.
struct Results {
  datasets::Score score;
  Pondered pondered;
};

/// What a split's examples gave, over all ranks.
struct Evaluation : Results {
  double loss = 0;              // cross entropy a label, without smoothing; teacher-forced scoring only
  std::int64_t labels = 0;      // that it is the mean of: those in the vocabulary, end of sequence included
  std::vector<Results> groups;  // of the task, each apart
  Scoring scoring = Scoring::greedy;

  /// What training is steered by: the accuracy of answers, or of symbols.
  double accuracy() const { return score.symbol_accuracy(); }
  /// e to the loss: of a language model, a label.
  double perplexity() const;
  /// Of the accuracies of the groups that have examples, each counting alike.
  double mean_of_groups() const;
};

/// Scores up to `limit` (0: all) examples of a split. The ranks share the work; each gets the whole result. Collective.
Evaluation evaluate_split(const Session& session, const core::UniversalTransformer& model, datasets::Split split,
                          const core::Steps& steps, Scoring scoring, std::int64_t limit);

/// The scores of each of the task's groups and of their ponder times, a line for each; empty where there are none.
std::string describe_groups(const Evaluation& evaluation, const datasets::Task& task);

/// "accuracy 0.995 on 1000 questions", or "accuracy 0.981 of symbols, 0.850 of sequences on 1000 sequences" and how the
/// outputs were made; and the ponder times, where positions halt.
std::string describe(const Evaluation& evaluation, const datasets::Task& task);

}  // namespace ut::launcher
