#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstdint>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/file.h"
#include "base/json.h"
#include "core/checkpoint_directory.h"
#include "launcher/commands.h"
#include "launcher/options/model_options.h"
#include "launcher/options/option_changes.h"
#include "launcher/options/option_table.h"
#include "launcher/process/say.h"
#include "launcher/ranks/agree.h"
#include "launcher/ranks/agreed_checkpoints.h"
#include "launcher/run/appended_file.h"
#include "launcher/run/describe_evaluation.h"
#include "launcher/run/evaluation.h"
#include "launcher/run/evaluation_record.h"
#include "launcher/run/examples_digest.h"
#include "launcher/run/run_directory.h"
#include "launcher/run/trained_model.h"
#include "launcher/scored_outputs.h"

namespace ut::launcher {
namespace {

/// "update 500", or "mean of updates 500, 400".
std::string describe(const std::vector<std::int64_t>& updates) {
  return fmt::format("{} {}", updates.size() == 1 ? "update" : "mean of updates", fmt::join(updates, ", "));
}

std::vector<std::int64_t> updates_of(const std::vector<std::filesystem::path>& checkpoints) {
  std::vector<std::int64_t> updates;
  for (const auto& checkpoint : checkpoints) updates.push_back(core::update_of(checkpoint.filename().string()).value());
  return updates;
}

/// How the score is made: steps, ranks, updates, scoring, and the options that differ from those of the run.
nlohmann::ordered_json provenance(const Session& session, const core::Steps& steps,
                                  const std::vector<std::int64_t>& updates) {
  nlohmann::ordered_json line;
  const Options& options = session.options;
  const datasets::Task& task = *session.task;
  const bool takes_steps = options.model.kind != core::ModelKind::lstm;
  if (takes_steps && task.has_source()) line["encoder_steps"] = steps.encoder;
  if (takes_steps && task.has_target()) line["decoder_steps"] = steps.decoder;
  line["ranks"] = session.mesh.world().size();
  line["updates"] = updates;
  line["examples_digest"] = examples_digest(task, options.split);
  if (task.has_outputs()) {
    line["scoring"] = name_of(options.teacher_forced ? Scoring::teacher_forced : Scoring::decoded);
    if (!options.teacher_forced) line["beam"] = options.beam;
  }
  if (options.beam > 1) line["length_penalty"] = options.length_penalty;
  if (options.decode_extra >= 0) line["decode_extra"] = options.decode_extra;
  if (options.evaluation_limit > 0) line["evaluation_limit"] = options.evaluation_limit;
  const Options of_run = parse_options({"evaluate", "--run-dir", options.run_dir});
  for (const OptionChange& change : changes_between(of_run, options, command_evaluate))
    if (!change.name.ends_with("steps"))
      line["options"][change.name] = base::json_or_text(change.now);  // steps are given above
  return line;
}

/// Whether the file lacks the end of its last line, as after a full disk or a kill.
bool is_torn(const std::filesystem::path& file) {
  const std::string text = base::path_exists(file) ? base::read_file(file) : "";
  return !text.empty() && text.back() != '\n';
}

/// Keeps the line with the run, for its report. If the run cannot be written to, only says so.
void record(const nlohmann::ordered_json& line, const std::filesystem::path& run_dir) {
  try {
    const std::filesystem::path file = evaluations_file(run_dir);
    AppendedFile(file).append((is_torn(file) ? "\n" : "") + base::json_line(line) + '\n');
  } catch (const std::runtime_error& error) {
    say(fmt::format("this evaluation is not recorded with its run: {}", error.what()));
  }
}

}  // namespace

int evaluate(Session& session) {
  const Options& options = session.options;
  const core::Steps steps = steps_of(options);
  const auto checkpoints = agreed_checkpoints(options, session.mesh.world());
  const std::vector<std::int64_t> updates = updates_of(checkpoints);
  std::unique_ptr<core::Model> model;
  // Read now: decoding may take hours, after which the run may have been moved.
  nlohmann::ordered_json how;
  agree(session.mesh.world(), [&] {
    model = load_model(options, *session.task, checkpoints, session.mesh.device());
    how = provenance(session, steps, updates);
  });
  const Scoring scoring = options.teacher_forced ? Scoring::teacher_forced : Scoring::decoded;
  ScoredOutputs outputs(*session.task, options.split);
  ExampleVisitor visit;
  if (!options.outputs.empty()) visit = [&](const ScoredExample& scored) { outputs.add(scored); };
  // Ranks that met only at the end would wait for one another as long as they have drifted apart.
  const auto never_stop = [&] { return is_so_on_any(session.mesh.world(), false); };
  const Evaluation result =
      evaluate_split(session, *model, options.split, steps, scoring, options.evaluation_limit, never_stop, visit)
          .value();
  if (session.speaks()) {
    nlohmann::ordered_json line{{"split", datasets::name_of(options.split)}};
    line.update(to_json(result, session));
    line.update(how);
    if (options.json)
      print(base::json_line(line) + "\n");
    else
      print(fmt::format("{}: {} {}\n{}{}{}", describe(updates), datasets::name_of(options.split),
                        describe(result, *session.task), describe_histogram(result.ponder_times),
                        describe_groups(result, *session.task), describe_mean(result, groups_are_tasks(options))));
    record(line, options.run_dir);
  }
  if (visit) outputs.write(options.outputs, session.mesh.world());
  return 0;
}

}  // namespace ut::launcher
