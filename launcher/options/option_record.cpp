#include "launcher/options/option_record.h"

#include <fmt/format.h>

#include <filesystem>
#include <utility>

#include "base/error.h"
#include "base/file.h"
#include "base/json.h"
#include "core/checkpoint_directory.h"
#include "launcher/options/command_table.h"
#include "launcher/options/config_text.h"
#include "launcher/options/option_checks.h"
#include "launcher/options/option_sources.h"
#include "launcher/options/option_table.h"
#include "launcher/options/record_checks.h"

namespace ut::launcher {
namespace {

/// The options that the run directory has recorded, to start from.
Options options_of_run(const Options& given, const CommandEntry& command) {
  const auto path = std::filesystem::path(given.run_dir) / config_name;
  if (!base::path_exists(path)) {
    if (!core::all_checkpoints(path.parent_path() / "checkpoints").empty())
      throw base::BadInput(
          "--run-dir {}: {}, the record of the run's options, is gone, though the checkpoints are there; put it back, "
          "or copy it from a run with the same options",
          given.run_dir, config_name);
    const auto advice = command.bit == command_train ? "; to start one leave out --resume" : "; ut train makes one";
    throw base::BadInput("--run-dir {}: there is no run (no {}){}", given.run_dir, config_name, advice);
  }
  const auto& train = find_command("train");
  Options options;
  apply(options, read_config(path, train), train);
  if (options.task.task.empty())
    throw base::BadInput("{}: names no task: the file was altered or cut short", path.string());
  options.recorded_ranks = std::exchange(options.ranks, 0);
  options.recorded_sequence_parallel = std::exchange(options.sequence_parallel, 0);
  if (command.bit != command_train) {
    // The ranks that trained a model need not be those that use it.
    options.recorded_ranks = 0;
    options.sequence_parallel = 1;
    options.plan_exchange = false;  // still open in an imported model's record
    options.threads = 0;
    options.device = DeviceChoice::automatic;
    options.communicator = CommunicatorChoice::automatic;
    options.share_gpus = false;
    options.hostfile.clear();
    options.evaluation_limit = 0;  // the recorded limit was for validation
  }
  return options;
}

}  // namespace

Options run_options(const Options& given, const std::vector<std::vector<Assignment>>& sources,
                    const CommandEntry& command) {
  if (given.run_dir.empty())
    throw base::BadInput("--run-dir: not given, needs the directory {}, as --run-dir runs/one",
                         starts_from_record(command) ? "of a run" : "to keep the run in");
  const bool from_record = given.resume || starts_from_record(command);
  const Options base = from_record ? options_of_run(given, command) : Options();
  Options options = base;
  std::vector<Assignment> assignments;
  for (const auto& source : sources) {
    apply(options, source, command);
    assignments.insert(assignments.end(), source.begin(), source.end());
  }
  if (given.resume) check_unchanged(base, options, assignments);
  if (options.task.task.empty())
    throw base::BadInput("--task: not given, needs {}{}", find_option("task", command_train)->expected,
                         base::path_exists(std::filesystem::path(given.run_dir) / config_name)
                             ? "; or --resume, to go on with the run"
                             : "");
  check_together(options);
  if ((command.bit & (command_train | command_import)) != 0) check_training(options);
  if (command.bit == command_evaluate) options.task.splits = {options.split};
  if (command.bit == command_decode || command.bit == command_export) options.task.splits.clear();
  if (command.bit == command_export && options.model_files.examples > 0) options.task.splits = {datasets::Split::test};
  return options;
}

std::string to_config(const Options& options) {
  std::string text;
  std::string group;
  for (const auto& entry : option_table()) {
    if (!entry.belongs_to(command_train) || !entry.recorded) continue;
    const auto value = entry.get(options);
    if (value.empty()) continue;
    if (std::exchange(group, entry.group) != entry.group) text += fmt::format("# {}\n", entry.group);
    text += config_line(entry.name, value);
  }
  return text;
}

nlohmann::ordered_json recorded_options(const Options& options, unsigned command) {
  nlohmann::ordered_json result;
  for (const auto& entry : option_table()) {
    if (!entry.belongs_to(command) || !entry.recorded) continue;
    result[entry.name] = base::json_or_text(entry.get(options));
  }
  return result;
}

}  // namespace ut::launcher
