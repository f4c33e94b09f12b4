#include "launcher/options/options.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <csignal>
#include <utility>

#include "base/error.h"
#include "launcher/options/command_table.h"
#include "launcher/options/option_checks.h"
#include "launcher/options/option_effects.h"
#include "launcher/options/option_record.h"
#include "launcher/options/option_sources.h"
#include "launcher/options/option_table.h"
#include "launcher/options/record_checks.h"

namespace ut::launcher {
namespace {

std::vector<std::string> names_of(const std::vector<Assignment>& assignments) {
  std::vector<std::string> names;
  for (const Assignment& assignment : assignments) names.push_back(assignment.name);
  return names;
}

Options parse_for(const CommandEntry& command, const std::vector<std::string>& arguments) {
  auto command_line = read_command_line(arguments, command);
  std::vector<std::vector<Assignment>> sources;
  std::erase_if(command_line, [&](const Assignment& assignment) {
    if (assignment.name != "config") return false;
    if (assignment.value.empty()) throw base::BadInput("--config: given empty, needs the name of a settings file");
    sources.push_back(read_config(assignment.value, command));
    return true;
  });
  sources.push_back(std::move(command_line));
  check_schedule(sources);
  Options options;
  for (const auto& source : sources) apply(options, source, command);
  check_given(options, command.bit);
  if (command.bit == command_import)
    sources.insert(sources.begin(), read_model_options(options.model_files.from, command));
  if (command.bit == command_report) {
    check_report(options);
  } else if (command.bit == command_bench || command.bit == command_plan) {
    check_together(options);
    check_bench(options);
    check_plan(options);
    if (command.bit == command_plan) options.sequence_parallel = 1;  // its measurements need no mesh
  } else if (command.bit == command_doctor) {
    // doctor looks at the place, not at a run.
    options.sequence_parallel = 1;
  } else if ((command.bit & (command_data | command_score)) == 0) {
    options = run_options(options, sources, command);
  }
  if (command.bit == command_import) {
    Options exported;
    apply(exported, sources.front(), command);
    check_same_model(exported, options, options.model_files.from);
  }
  options.command = command.name;
  constexpr unsigned with_models = command_train | command_evaluate | command_decode | command_export | command_import |
                                   command_bench | command_plan | command_report;
  // Without --task, the kind of task is found later, from the files.
  const bool checks_one_task = command.bit == command_data_check && !options.task.task.empty();
  if ((command.bit & with_models) != 0 || checks_one_task) check_effects(options, names_of(sources.back()));
  // An LSTM leaves nothing to choose.
  if (options.model.kind == core::ModelKind::lstm) options.sequence_parallel = 1;
  return options;
}

bool asks_for_help(const std::string& argument) { return argument == "--help" || argument == "-h"; }

Options command_only(const std::string& command, const std::string& topic = "") {
  Options options;
  options.command = command;
  options.topic = topic;
  return options;
}

}  // namespace

Options::Options() : stop_signals{SIGTERM, SIGUSR1, SIGINT} {
  optimizer.schedule = {core::ScheduleKind::constant, 1e-3, 300};
  optimizer.clip_norm = 1.0;
  // Costs nothing measurable if rows halt evenly; saves a fifth if they do not.
  model.halting.balance = 1.5;
}

Options parse_options(const std::vector<std::string>& arguments) {
  if (arguments.empty()) throw base::BadInput("no command given (see ut --help)");
  std::string name = arguments.front();
  std::vector<std::string> rest(arguments.begin() + 1, arguments.end());
  if (asks_for_help(name) || name == "help") return command_only("help", fmt::format("{}", fmt::join(rest, " ")));
  if (name == "--version" || name == "version") return command_only("version");
  const bool wants_help = std::any_of(rest.begin(), rest.end(), asks_for_help);
  if (is_group(name)) {
    if (rest.empty() || rest.front().starts_with('-')) {
      if (wants_help) return command_only("help", name);
      throw base::BadInput("ut {}: needs what to do: {}", name, fmt::join(names_below(name), ", "));
    }
    name += " " + rest.front();
    rest.erase(rest.begin());
  }
  const auto& command = find_command(name);
  return wants_help ? command_only("help", command.name) : parse_for(command, rest);
}

}  // namespace ut::launcher
