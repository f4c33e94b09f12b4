#include "launcher/run/evaluation_record.h"

#include <nlohmann/json.hpp>

namespace ut::launcher {
namespace {

/// Adds BLEU if outputs are text; for German, which the papers' scripts cut into tokens, also BLEU as they compute it.
void add_text_score(nlohmann::ordered_json& json, const Results& results, const std::string& language) {
  if (!results.text) return;
  const auto& [by_sacrebleu, of_the_papers] = text_scorings;
  json["bleu"] = results.bleu().score;
  json["bleu_signature"] = datasets::bleu_signature(1, by_sacrebleu);
  if (language == "de") json["bleu_tokenised_split"] = datasets::bleu_of((*results.text)[1], of_the_papers).score;
}

nlohmann::ordered_json to_json(const Results& results, const std::string& language) {
  nlohmann::ordered_json json{{"accuracy", results.score.symbol_accuracy()}, {"sequences", results.score.sequences}};
  add_text_score(json, results, language);
  if (!results.ponder_times.is_empty()) json["ponder"] = to_json(results.ponder_times);
  return json;
}

/// Adds the scores of each of the task's groups, and of all groups together.
void add_groups(nlohmann::ordered_json& json, const Evaluation& found, const Session& session) {
  const auto names = session.task->groups();
  for (std::size_t group = 0; group < found.groups.size(); ++group)
    if (found.groups[group].score.sequences > 0)
      json["groups"][names[group]] = to_json(found.groups[group], session.options.task.target_language);
  if (groups_are_tasks(session.options) && found.scored_groups() > 0) {
    json["failed_tasks"] = found.failed_tasks();
    json["mean_error"] = 1 - found.mean_of_groups();
  }
  if (found.scored_groups() > 1) json["mean_of_groups"] = found.mean_of_groups();
}

}  // namespace

bool groups_are_tasks(const Options& options) { return options.task.task == "babi"; }

nlohmann::ordered_json to_json(const Evaluation& found, const Session& session) {
  const datasets::Task& task = *session.task;
  nlohmann::ordered_json json{{"accuracy", found.score.symbol_accuracy()},
                              {"sequence_accuracy", found.score.sequence_accuracy()},
                              {"sequences", found.score.sequences}};
  add_text_score(json, found, session.options.task.target_language);
  if (!found.ponder_times.is_empty()) json["ponder"] = to_json(found.ponder_times);
  add_groups(json, found, session);
  const bool is_language_model = !task.has_source();
  if (found.scoring == Scoring::teacher_forced && found.labels > 0) json["loss"] = found.loss;
  if (is_language_model) {
    if (found.labels > 0) json["perplexity"] = found.perplexity();
    json["labels"] = found.labels;  // that the perplexity is of
  }
  return json;
}

}  // namespace ut::launcher
