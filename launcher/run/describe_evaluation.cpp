#include "launcher/run/describe_evaluation.h"

#include <fmt/format.h>

namespace ut::launcher {
namespace {

std::string how_made(const Evaluation& evaluation) {
  if (evaluation.scoring == Scoring::teacher_forced) return "teacher-forced";
  return evaluation.beam == 1 ? "decoded greedily" : fmt::format("decoded with a beam of {}", evaluation.beam);
}

/// All but BLEU.
std::string describe_symbols(const Evaluation& evaluation, const datasets::Task& task) {
  const auto& score = evaluation.score;
  const std::string ponder_times = describe(evaluation.ponder_times);
  const std::string and_pondered = ponder_times.empty() ? "" : ", " + ponder_times;
  if (!task.has_target())
    return fmt::format("accuracy {:.3f} on {} questions{}", score.symbol_accuracy(), score.sequences, and_pondered);
  if (!task.has_source())
    return fmt::format("accuracy {:.3f} on {} words{}{}", score.symbol_accuracy(), score.symbols,
                       evaluation.labels == 0 ? ""
                                              : fmt::format(", perplexity {:.2f} of {} labels", evaluation.perplexity(),
                                                            evaluation.labels),
                       and_pondered);
  return fmt::format("accuracy {:.3f} of symbols, {:.3f} of sequences on {} sequences ({}){}", score.symbol_accuracy(),
                     score.sequence_accuracy(), score.sequences, how_made(evaluation), and_pondered);
}

}  // namespace

std::string describe_in_a_line(const Evaluation& evaluation, const datasets::Task& task) {
  return describe_symbols(evaluation, task) +
         (evaluation.text ? fmt::format(", BLEU {:.2f}", evaluation.bleu().score) : "");
}

std::string describe(const Evaluation& evaluation, const datasets::Task& task) {
  if (!evaluation.text) return describe_symbols(evaluation, task);
  return fmt::format("{}\nBLEU|{} = {}", describe_symbols(evaluation, task),
                     datasets::bleu_signature(1, text_scorings.front()), datasets::describe(evaluation.bleu()));
}

std::string describe_mean(const Evaluation& evaluation, bool groups_are_tasks) {
  const std::int64_t scored = evaluation.scored_groups();
  if (groups_are_tasks && scored > 0)
    return fmt::format("{} of {} tasks failed (error above {:g} %), mean error {:.2f} %\n", evaluation.failed_tasks(),
                       scored, 100 * failed_above, 100 * (1 - evaluation.mean_of_groups()));
  return scored < 2 ? "" : fmt::format("mean of the {} groups: accuracy {:.3f}\n", scored, evaluation.mean_of_groups());
}

std::string describe_groups(const Evaluation& evaluation, const datasets::Task& task) {
  std::string text;
  const auto names = task.groups();
  for (std::size_t group = 0; group < evaluation.groups.size(); ++group) {
    Evaluation alone;
    static_cast<Results&>(alone) = evaluation.groups[group];
    alone.scoring = evaluation.scoring;
    alone.beam = evaluation.beam;
    if (alone.score.sequences > 0) text += fmt::format("{}: {}\n", names[group], describe(alone, task));
  }
  return text;
}

}  // namespace ut::launcher
