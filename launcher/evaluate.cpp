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
#include "launcher/process/say.h"
#include "launcher/ranks/agree.h"
#include "launcher/ranks/agreed_checkpoints.h"
#include "launcher/run/appended_file.h"
#include "launcher/run/evaluation.h"
#include "launcher/run/run_directory.h"
#include "launcher/run/trained_model.h"

namespace ut::launcher {
namespace {

bool groups_are_tasks(const Options& options) { return options.task.task == "babi"; }

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

/// Of the task's groups: each, and what they are together.
void add_groups(nlohmann::ordered_json& json, const Evaluation& result, const Options& options,
                const datasets::Task& task) {
  for (std::size_t group = 0; group < result.groups.size(); ++group)
    if (result.groups[group].score.sequences > 0)
      json["groups"][task.groups()[group]] = to_json(result.groups[group], options.task.target_language);
  if (groups_are_tasks(options) && result.scored_groups() > 0) {
    json["failed_tasks"] = result.failed_tasks();
    json["mean_error"] = 1 - result.mean_of_groups();
  }
  if (result.scored_groups() > 1) json["mean_of_groups"] = result.mean_of_groups();
}

/// The evaluation as a line for programs.
nlohmann::ordered_json to_json(const Evaluation& result, const Session& session, const core::Steps& steps,
                               const std::vector<std::int64_t>& updates) {
  const Options& options = session.options;
  const datasets::Task& task = *session.task;
  nlohmann::ordered_json json{{"split", datasets::name_of(options.split)},
                              {"accuracy", result.score.symbol_accuracy()},
                              {"sequence_accuracy", result.score.sequence_accuracy()},
                              {"sequences", result.score.sequences}};
  if (task.has_source()) json["encoder_steps"] = steps.encoder;
  if (task.has_target()) json["decoder_steps"] = steps.decoder;
  json["ranks"] = session.mesh.world().size();
  json.update(provenance(options, task, updates));
  add_text_score(json, result, options.task.target_language);
  if (!result.pondered.is_empty()) json["ponder"] = to_json(result.pondered);
  add_groups(json, result, options, task);
  const bool is_language_model = !task.has_source();
  if (options.teacher_forced || !task.has_target() || is_language_model) json["loss"] = result.loss;
  if (is_language_model) {
    json["perplexity"] = result.perplexity();
    json["labels"] = result.labels;  // that this is of: the others are outside the vocabulary
  }
  return json;
}

/// Keeps the line with the run, for its report; of a run that cannot be written to it is printed alone.
void record(const nlohmann::ordered_json& line, const std::filesystem::path& run_dir) {
  try {
    AppendedFile(evaluations_file(run_dir)).append(line.dump() + '\n');
  } catch (const std::runtime_error& error) {
    say(fmt::format("this evaluation is not kept with its run: {}", error.what()));
  }
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
  const nlohmann::ordered_json line = to_json(result, session, steps, updates);
  if (options.json)
    fmt::print("{}\n", line.dump());
  else
    fmt::print("{}: {} {}\n{}{}{}", describe(updates), datasets::name_of(options.split),
               describe(result, *session.task), describe_histogram(result.pondered),
               describe_groups(result, *session.task), describe_mean(result, groups_are_tasks(options)));
  record(line, options.run_dir);
  return 0;
}

}  // namespace ut::launcher
