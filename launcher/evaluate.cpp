#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstdint>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "base/error.h"
#include "core/checkpoint_directory.h"
#include "launcher/commands.h"
#include "launcher/options/model_options.h"
#include "launcher/ranks/agree.h"
#include "launcher/ranks/agreed_checkpoints.h"
#include "launcher/run/evaluation.h"
#include "launcher/run/trained_model.h"

namespace ut::launcher {
namespace {

/// BLEU, where outputs are text; of German, which the papers' scripts cut into tokens, also as they have it.
void add_text_score(nlohmann::ordered_json& json, const Results& results, const std::string& language) {
  if (!results.text) return;
  const auto& [by_sacrebleu, of_the_papers] = text_scorings;
  json["bleu"] = datasets::bleu_of((*results.text)[0], by_sacrebleu).score;
  json["bleu_signature"] = datasets::bleu_signature(1, by_sacrebleu);
  if (language == "de") json["bleu_tokenised_split"] = datasets::bleu_of((*results.text)[1], of_the_papers).score;
}

/// "update 500", or "mean of updates 500, 400".
std::string describe(const std::vector<std::int64_t>& updates) {
  return fmt::format("{} {}", updates.size() == 1 ? "update" : "mean of updates", fmt::join(updates, ", "));
}

std::vector<std::int64_t> updates_of(const std::vector<std::filesystem::path>& checkpoints) {
  std::vector<std::int64_t> updates;
  for (const auto& checkpoint : checkpoints) updates.push_back(core::update_of(checkpoint.filename().string()).value());
  return updates;
}

/// What was scored, and how.
nlohmann::ordered_json provenance(const Options& options, const datasets::Task& task,
                                  const std::vector<std::int64_t>& updates) {
  nlohmann::ordered_json json{{"updates", updates}};
  if (task.has_source() && task.has_target()) {
    json["scoring"] = options.teacher_forced ? "teacher-forced" : "decoded";
    if (!options.teacher_forced) json["beam"] = options.beam;
  }
  if (options.beam > 1) json["length_penalty"] = options.length_penalty;
  if (options.evaluation_limit > 0) json["evaluation_limit"] = options.evaluation_limit;
  return json;
}

nlohmann::ordered_json to_json(const Results& results, const std::string& language) {
  nlohmann::ordered_json json{{"accuracy", results.score.symbol_accuracy()}, {"sequences", results.score.sequences}};
  add_text_score(json, results, language);
  if (!results.pondered.is_empty()) json["ponder"] = to_json(results.pondered);
  return json;
}

}  // namespace

int evaluate(Session& session) {
  const Options& options = session.options;
  const core::Steps steps = steps_of(options);
  const auto checkpoints = agreed_checkpoints(options, session.mesh.world());
  const std::vector<std::int64_t> updates = updates_of(checkpoints);
  std::unique_ptr<core::Model> model;
  agree(session.mesh.world(), [&] { model = load_model(options, *session.task, checkpoints, session.mesh.device()); });
  const Scoring scoring = options.teacher_forced ? Scoring::teacher_forced : Scoring::decoded;
  const Evaluation result =
      evaluate_split(session, *model, options.split, steps, scoring, options.evaluation_limit).value();
  if (!session.speaks()) return 0;
  const bool groups_are_tasks = options.task.task == "babi";
  if (!options.json) {
    fmt::print("{}: {} {}\n{}{}{}", describe(updates), datasets::name_of(options.split),
               describe(result, *session.task), describe_histogram(result.pondered),
               describe_groups(result, *session.task), describe_mean(result, groups_are_tasks));
    return 0;
  }
  nlohmann::ordered_json line{{"split", datasets::name_of(options.split)},
                              {"accuracy", result.score.symbol_accuracy()},
                              {"sequence_accuracy", result.score.sequence_accuracy()},
                              {"sequences", result.score.sequences}};
  if (session.task->has_source()) line["encoder_steps"] = steps.encoder;
  if (session.task->has_target()) line["decoder_steps"] = steps.decoder;
  line["ranks"] = session.mesh.world().size();
  line.update(provenance(options, *session.task, updates));
  add_text_score(line, result, options.task.target_language);
  if (!result.pondered.is_empty()) line["ponder"] = to_json(result.pondered);
  for (std::size_t group = 0; group < result.groups.size(); ++group)
    if (result.groups[group].score.sequences > 0)
      line["groups"][session.task->groups()[group]] = to_json(result.groups[group], options.task.target_language);
  if (groups_are_tasks && result.scored_groups() > 0) {
    line["failed_tasks"] = result.failed_tasks();
    line["mean_error"] = 1 - result.mean_of_groups();
  }
  if (result.scored_groups() > 1) line["mean_of_groups"] = result.mean_of_groups();
  const bool is_language_model = !session.task->has_source();
  if (options.teacher_forced || !session.task->has_target() || is_language_model) line["loss"] = result.loss;
  if (is_language_model) {
    line["perplexity"] = result.perplexity();
    line["labels"] = result.labels;  // that this is of: the others are outside the vocabulary
  }
  fmt::print("{}\n", line.dump());
  return 0;
}

}  // namespace ut::launcher
