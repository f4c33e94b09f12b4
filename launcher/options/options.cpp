#include "launcher/options/options.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <boost/program_options.hpp>
#include <csignal>
#include <filesystem>
#include <map>
#include <sstream>

#include "base/error.h"
#include "base/file.h"
#include "base/json.h"
#include "datasets/subwords.h"
#include "datasets/unicode.h"
#include "launcher/options/command_table.h"
#include "launcher/options/config_text.h"
#include "launcher/options/nearest_name.h"
#include "launcher/options/option_checks.h"
#include "launcher/options/option_effects.h"
#include "launcher/options/option_table.h"

namespace ut::launcher {
namespace {

namespace program_options = boost::program_options;

const OptionEntry* find_option(const std::string& name, unsigned command) {
  for (const auto& entry : option_table())
    if (entry.name == name && entry.belongs_to(command)) return &entry;
  return nullptr;
}

/// One option given somewhere.
struct Assignment {
  std::string name;
  std::string value;
  std::string origin;  // how messages name it: "--heads", or file, line and name
};

/// Whether the command uses a trained model, as its run directory has it.
bool starts_from_record(const CommandEntry& command) {
  return command.bit == command_evaluate || command.bit == command_decode || command.bit == command_export;
}

[[noreturn]] void refuse_unknown(const std::string& name, const std::string& origin, const CommandEntry& command) {
  if (name == "config")
    throw base::BadInput(
        fmt::format("{}: a settings file cannot name another; leave it out, and give both files to --config", origin));
  if (name == "help") throw base::BadInput(fmt::format("{}: is for the command line alone; leave it out", origin));
  if (find_option(name, command_train) && starts_from_record(command))
    throw base::BadInput(fmt::format("{}: is set when training and cannot be changed by ut {}", origin, command.name));
  std::vector<std::string> names = {"config", "help"};
  for (const auto& entry : option_table())
    if (entry.belongs_to(command.bit)) names.push_back(entry.name);
  const auto prefix = origin.starts_with("--") ? "--" : "";
  throw base::BadInput(
      fmt::format("{}: unknown option{} (see ut {} --help)", origin, suggestion(name, names, prefix), command.name));
}

[[noreturn]] void refuse_missing_value(const std::string& name, const CommandEntry& command) {
  const auto* entry = find_option(name, command.bit);
  const auto expected = entry == nullptr ? "a value" : entry->expected;
  throw base::BadInput(fmt::format("--{}: no value given, needs {}", name, expected));
}

std::string describe(const OptionEntry& entry, const CommandEntry& command) {
  if (entry.recorded && starts_from_record(command)) return fmt::format("{} (default: the run's)", entry.description);
  if (!entry.shows_default) return entry.description;
  const auto value = entry.get(Options());
  return value.empty() ? entry.description : fmt::format("{} (default {})", entry.description, value);
}

program_options::options_description boost_options(const CommandEntry& command) {
  constexpr unsigned width = 100;
  constexpr unsigned description_width = 70;
  std::vector<std::string> groups;
  for (const auto& entry : option_table())
    if (entry.belongs_to(command.bit) && std::find(groups.begin(), groups.end(), entry.group) == groups.end())
      groups.push_back(entry.group);
  program_options::options_description all("", width, description_width);
  for (const auto& group : groups) {
    program_options::options_description options(group, width, description_width);
    for (const auto& entry : option_table()) {
      if (entry.group != group || !entry.belongs_to(command.bit)) continue;
      if (entry.flag())
        options.add_options()(entry.name.c_str(), program_options::bool_switch(), describe(entry, command).c_str());
      else
        options.add_options()(entry.name.c_str(), program_options::value<std::string>()->value_name(entry.placeholder),
                              describe(entry, command).c_str());
    }
    if (group == "Run") {
      options.add_options()("config", program_options::value<std::string>()->value_name("FILE"),
                            "options as lines `name = value`; the command line overrides them");
      options.add_options()("help", "print this");
    }
    all.add(options);
  }
  return all;
}

std::vector<Assignment> read_command_line(const std::vector<std::string>& arguments, const CommandEntry& command) {
  namespace style = program_options::command_line_style;
  std::vector<Assignment> assignments;
  int unnamed = 0;
  std::string unnamed_value;
  try {
    const auto description = boost_options(command);
    const auto parsed = program_options::command_line_parser(arguments)
                            .options(description)
                            .style(style::allow_long | style::long_allow_adjacent | style::long_allow_next)
                            .run();
    for (const auto& option : parsed.options) {
      if (option.position_key >= 0 && !command.unnamed.empty() && (unnamed++ == 0 || command.unnamed_many)) {
        unnamed_value = option.value.front();
        assignments.push_back({command.unnamed, option.value.front(), option.value.front()});
        continue;
      }
      if (option.position_key >= 0)
        throw base::BadInput(fmt::format("\"{}\": not expected here, options start with -- (see ut {} --help)",
                                         option.value.front(), command.name));
      const bool took_an_option = !option.value.empty() && option.value.front().starts_with("--");
      if (took_an_option && option.original_tokens.size() > 1) refuse_missing_value(option.string_key, command);
      assignments.push_back(
          {option.string_key, option.value.empty() ? "true" : option.value.front(), "--" + option.string_key});
    }
  } catch (const program_options::unknown_option& error) {
    auto name = error.get_option_name();
    name = name.substr(0, name.find('='));
    name.erase(0, name.find_first_not_of('-'));
    refuse_unknown(name, "--" + name, command);
  } catch (const program_options::invalid_command_line_syntax& error) {
    auto name = error.get_option_name();
    name.erase(0, name.find_first_not_of('-'));
    const auto* entry = find_option(name, command.bit);
    if (entry != nullptr && entry->flag()) throw base::BadInput(fmt::format("--{}: takes no value", name));
    refuse_missing_value(name, command);
  } catch (const program_options::error& error) {
    throw base::BadInput(error.what());
  }
  const auto is_named = [&](const Assignment& given) { return given.origin == "--" + command.unnamed; };
  if (unnamed > 0 && !command.unnamed_many && std::ranges::any_of(assignments, is_named))
    throw base::BadInput(
        fmt::format("\"{}\": given, but --{} is, too; leave one of the two out", unnamed_value, command.unnamed));
  return assignments;
}

std::vector<Assignment> read_config(const std::filesystem::path& path, const CommandEntry& command) {
  std::vector<Assignment> assignments;
  std::map<std::string, int> lines;  // by name
  for (const auto& [number, name, value] : config_lines(base::read_file(path), path.string())) {
    const auto origin = fmt::format("{} line {}: {}", path.string(), number, name);
    const OptionEntry* entry = find_option(name, command.bit);
    if (entry == nullptr) refuse_unknown(name, origin, command);
    const auto [before, is_new] = lines.emplace(name, number);
    if (!is_new && !entry->repeatable)
      throw base::BadInput(
          fmt::format("{}: is set in line {} already; leave one of the two out", origin, before->second));
    assignments.push_back({name, value, origin});
  }
  return assignments;
}

/// The options that a model was exported with.
std::vector<Assignment> read_model_options(const std::filesystem::path& model, const CommandEntry& command) {
  const auto path = model / model_config_name;
  const auto config = base::parse_json(base::read_file(path));
  if (!config.is_object() || !config.contains("options") || !config["options"].is_object())
    throw base::BadInput(fmt::format("{}: not a JSON object that has \"options\"", path.string()));
  std::vector<Assignment> assignments;
  for (const auto& [name, value] : config["options"].items()) {
    const auto origin = fmt::format("{}: {}", path.string(), name);
    if (find_option(name, command.bit) == nullptr) refuse_unknown(name, origin, command);
    assignments.push_back({name, value.is_string() ? value.get<std::string>() : value.dump(), origin});
  }
  return assignments;
}

std::vector<std::string> names_of(const std::vector<Assignment>& assignments) {
  std::vector<std::string> names;
  for (const Assignment& assignment : assignments) names.push_back(assignment.name);
  return names;
}

/// What the option needs, with its bound for a number that may be beyond it.
std::string needed_by(const OptionEntry& entry, const std::string& value) {
  const bool is_number = !value.empty() && value.find_first_not_of("0123456789") == std::string::npos;
  return entry.most.empty() || !is_number || value.size() < entry.most.size()
             ? entry.expected
             : fmt::format("{} and at most {}", entry.expected, entry.most);
}

/// Sets the assignments of one source; the last one of a name counts.
void apply(Options& options, const std::vector<Assignment>& assignments, const CommandEntry& command) {
  for (const bool sets_others : {true, false}) {
    for (const auto& assignment : assignments) {
      const auto& entry = *find_option(assignment.name, command.bit);
      if (entry.sets_others != sets_others) continue;
      const bool has_line_break = assignment.value.find_first_of("\n\r") != std::string::npos;
      if (!datasets::is_utf8(assignment.value))  // what a run writes down of it has to be
        throw base::BadInput(fmt::format("{}: is not UTF-8; give another name to the file", assignment.origin));
      if (has_line_break || !entry.set(options, assignment.value))
        throw base::BadInput(fmt::format("{}: \"{}\" given, needs {}{}", assignment.origin, assignment.value,
                                         needed_by(entry, assignment.value),
                                         has_line_break ? " without line breaks" : ""));
    }
  }
}

/// What the run directory has recorded, as the options to start from.
Options options_of_run(const Options& given, const CommandEntry& command) {
  const auto path = std::filesystem::path(given.run_dir) / config_name;
  if (!base::is_there(path)) {
    const auto advice = command.bit == command_train ? "; to start one leave out --resume" : "; ut train makes one";
    throw base::BadInput(fmt::format("--run-dir {}: there is no run (no {}){}", given.run_dir, config_name, advice));
  }
  const auto& train = find_command("train");
  Options options;
  apply(options, read_config(path, train), train);
  if (options.task.task.empty())
    throw base::BadInput(fmt::format("{}: names no task: the file was altered or cut short", path.string()));
  options.recorded_ranks = std::exchange(options.ranks, 0);
  options.recorded_sequence_parallel = std::exchange(options.sequence_parallel, 0);
  const auto kept_model = std::filesystem::absolute(given.run_dir) / datasets::subword_model_name;
  if (base::is_there(kept_model)) options.task.sentencepiece = kept_model.string();
  if (command.bit != command_train) {
    // How many ranks trained a model says nothing about where it is used.
    options.recorded_ranks = 0;
    options.sequence_parallel = 1;
    options.plan_exchange = false;  // an imported model's record may leave it open
    options.threads = 0;
    options.device = DeviceChoice::automatic;
    options.communicator = CommunicatorChoice::automatic;
    options.share_gpus = false;
    options.hostfile.clear();
    options.evaluation_limit = 0;  // that was of validations
  }
  return options;
}

Options run_options(const Options& given, const std::vector<std::vector<Assignment>>& sources,
                    const CommandEntry& command) {
  if (given.run_dir.empty())
    throw base::BadInput(fmt::format("--run-dir: not given, needs the directory {}, as --run-dir runs/one",
                                     starts_from_record(command) ? "of a run" : "to keep the run in"));
  const bool from_record = given.resume || starts_from_record(command);
  const Options base = from_record ? options_of_run(given, command) : Options();
  Options options = base;
  for (const auto& source : sources) apply(options, source, command);
  if (given.resume) check_unchanged(base, options);
  if (options.task.task.empty())
    throw base::BadInput(fmt::format("--task: not given, needs {}{}", find_option("task", command_train)->expected,
                                     base::is_there(std::filesystem::path(given.run_dir) / config_name)
                                         ? "; or --resume, to go on with the run"
                                         : ""));
  check_together(options);
  if ((command.bit & (command_train | command_import)) != 0) check_training(options);
  if (command.bit == command_evaluate) options.task.splits = {options.split};
  if (command.bit == command_decode || command.bit == command_export) options.task.splits.clear();
  if (command.bit == command_export && options.model_files.examples > 0) options.task.splits = {datasets::Split::test};
  return options;
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
    if (command.bit == command_plan) options.sequence_parallel = 1;  // what it measures is not a mesh
  } else if (command.bit == command_doctor) {
    // It looks at the place, not at a run.
    options.sequence_parallel = 1;
  } else if ((command.bit & (command_data | command_score)) == 0) {
    options = run_options(options, sources, command);
  }
  options.command = command.name;
  constexpr unsigned with_models = command_train | command_evaluate | command_decode | command_export | command_import |
                                   command_bench | command_plan | command_report;
  // Without --task the files say what they are for, later.
  const bool checks_one_task = command.bit == command_data_check && !options.task.task.empty();
  if ((command.bit & with_models) != 0 || checks_one_task) check_effects(options, names_of(sources.back()));
  if (options.model.kind == core::ModelKind::lstm) options.sequence_parallel = 1;  // nothing is left to choose
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
  model.halting.balance = 1.5;  // costs nothing measurable where rows halt evenly, saves a fifth where they do not
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
      throw base::BadInput(fmt::format("ut {}: needs what to do: {}", name, fmt::join(names_below(name), ", ")));
    }
    name += " " + rest.front();
    rest.erase(rest.begin());
  }
  const auto& command = find_command(name);
  return wants_help ? command_only("help", command.name) : parse_for(command, rest);
}

std::string help(const std::string& command) {
  std::ostringstream text;
  if (command.empty() || is_group(command)) {
    if (command.empty()) text << "ut: trains, evaluates and runs Universal Transformers on any number of ranks\n\n";
    text << "Commands:\n";
    for (const auto& entry : commands())
      if (entry.name.starts_with(command)) text << fmt::format("  {:<18} {}\n", entry.name, entry.description);
    text << "\n  ut COMMAND --help   its options\n  ut --version        what this build has\n";
    return text.str();
  }
  const auto& entry = find_command(command);
  text << fmt::format("ut {}: {}\n\nusage: {}\n", entry.name, entry.description, entry.usage);
  text << boost_options(entry);
  return text.str();
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
    const std::string text = entry.get(options);
    const auto value = base::parse_json(text);
    result[entry.name] = value.is_discarded() ? nlohmann::json(text) : value;
  }
  return result;
}

}  // namespace ut::launcher
