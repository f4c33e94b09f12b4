#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "base/error.h"
#include "launcher/commands.h"
#include "launcher/evaluation.h"
#include "launcher/ranks.h"

namespace ut::launcher {
namespace {

const char* name_of(datasets::Split split) {
  switch (split) {
    case datasets::Split::train:
      return "train";
    case datasets::Split::validation:
      return "validation";
    case datasets::Split::control:
      return "control";
    case datasets::Split::test:
      break;
  }
  return "test";
}

nlohmann::ordered_json to_json(const Results& results) {
  nlohmann::ordered_json json{{"accuracy", results.score.symbol_accuracy()}, {"sequences", results.score.sequences}};
  if (!results.pondered.is_empty()) json["ponder"] = to_json(results.pondered);
  return json;
}

}  // namespace

int evaluate(Session& session) {
  const Options& options = session.options;
  const core::Steps steps = steps_of(options);
  std::unique_ptr<core::UniversalTransformer> model;
  agree(session.mesh.world(), [&] { model = load_model(options, *session.task, session.mesh.device()); });
  if (options.split == datasets::Split::control && !session.task->has_control())
    throw base::BadInput("--split control: this data has none; needs test, validation or train");
  const Scoring scoring = options.teacher_forced ? Scoring::teacher_forced : Scoring::greedy;
  const Evaluation result = evaluate_split(session, *model, options.split, steps, scoring, options.evaluation_limit);
  if (!session.speaks()) return 0;
  if (!options.json) {
    fmt::print("{} {}\n{}{}", name_of(options.split), describe(result, *session.task),
               describe_histogram(result.pondered), describe_groups(result, *session.task));
    return 0;
  }
  nlohmann::ordered_json line{{"split", name_of(options.split)},
                              {"accuracy", result.score.symbol_accuracy()},
                              {"sequence_accuracy", result.score.sequence_accuracy()},
                              {"sequences", result.score.sequences},
                              {"encoder_steps", steps.encoder},
                              {"decoder_steps", steps.decoder},
                              {"ranks", session.mesh.world().size()}};
  if (!result.pondered.is_empty()) line["ponder"] = to_json(result.pondered);
  for (std::size_t group = 0; group < result.groups.size(); ++group)
    if (result.groups[group].score.sequences > 0)
      line["groups"][session.task->groups()[group]] = to_json(result.groups[group]);
  if (result.groups.size() > 1) line["mean_of_groups"] = result.mean_of_groups();
  const bool is_language_model = !session.task->has_source();
  if (options.teacher_forced || !session.task->has_target() || is_language_model) line["loss"] = result.loss;
  if (is_language_model) line["perplexity"] = result.perplexity();
  fmt::print("{}\n", line.dump());
  return 0;
}

}  // namespace ut::launcher
