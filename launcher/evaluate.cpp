#include <fmt/format.h>

#include <nlohmann/json.hpp>

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
  const Scoring scoring = options.teacher_forced ? Scoring::teacher_forced : Scoring::greedy;
  const Evaluation result = evaluate_split(session, *model, options.split, steps, scoring, options.evaluation_limit);
  if (!session.speaks()) return 0;
  const bool groups_are_tasks = options.task.task == "babi";
  if (!options.json) {
    fmt::print("{} {}\n{}{}{}", name_of(options.split), describe(result, *session.task),
               describe_histogram(result.pondered), describe_groups(result, *session.task),
               groups_are_tasks ? describe_failed_tasks(result) : "");
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
  if (groups_are_tasks && result.scored_groups() > 0) {
    line["failed_tasks"] = result.failed_tasks();
    line["mean_error"] = result.mean_error();
  }
  if (options.teacher_forced || !session.task->has_target()) line["loss"] = result.loss;
  fmt::print("{}\n", line.dump());
  return 0;
}

}  // namespace ut::launcher
