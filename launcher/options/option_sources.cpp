#include "launcher/options/option_sources.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/program_options.hpp>
#include <map>

#include "base/error.h"
#include "base/file.h"
#include "base/json.h"
#include "datasets/subwords.h"
#include "datasets/unicode.h"
#include "launcher/options/config_text.h"
#include "launcher/options/nearest_name.h"
#include "launcher/options/option_help.h"
#include "launcher/options/option_table.h"

namespace ut::launcher {
namespace {

namespace program_options = boost::program_options;

[[noreturn]] void refuse_unknown(const std::string& name, const std::string& origin, const CommandEntry& command) {
  if (name == "config")
    throw base::BadInput("{}: a settings file cannot name another; leave it out, and give both files to --config",
                         origin);
  if (name == "help") throw base::BadInput("{}: is for the command line alone; leave it out", origin);
  if (find_option(name, command_train) && starts_from_record(command))
    throw base::BadInput("{}: is set when training and cannot be changed by ut {}", origin, command.name);
  std::vector<std::string> names = {"config", "help"};
  for (const auto& entry : option_table())
    if (entry.belongs_to(command.bit)) names.push_back(entry.name);
  const auto prefix = origin.starts_with("--") ? "--" : "";
  throw base::BadInput("{}: unknown option{} (see ut {} --help)", origin, suggestion(name, names, prefix),
                       command.name);
}

[[noreturn]] void refuse_missing_value(const std::string& name, const CommandEntry& command) {
  const auto* entry = find_option(name, command.bit);
  const auto expected = entry == nullptr ? "a value" : entry->expected;
  throw base::BadInput("--{}: no value given, needs {}", name, expected);
}

/// What the option needs, with its upper bound if the number may exceed it.
std::string needed_by(const OptionEntry& entry, const std::string& value) {
  const bool is_number = !value.empty() && value.find_first_not_of("0123456789") == std::string::npos;
  return entry.most.empty() || !is_number || value.size() < entry.most.size()
             ? entry.expected
             : fmt::format("{} and at most {}", entry.expected, entry.most);
}

/// Adds the model of pieces that a run or an exported model keeps in its directory, if the command takes one. It
/// replaces the recorded path, because the directory may have been moved.
void take_pieces_of(const std::filesystem::path& directory, const CommandEntry& command,
                    std::vector<Assignment>& assignments) {
  if (find_option("sentencepiece", command.bit) == nullptr) return;
  const auto pieces = std::filesystem::absolute(directory) / datasets::subword_model_name;
  if (!base::path_exists(pieces)) return;
  std::erase_if(assignments, [](const Assignment& assignment) { return assignment.name == "sentencepiece"; });
  assignments.push_back({"sentencepiece", pieces.string(), pieces.string()});
}

/// The last assignment of this name; null if there is none.
const Assignment* find_assignment(const std::vector<Assignment>& source, std::string_view name) {
  const auto found = std::ranges::find(source.rbegin(), source.rend(), name, &Assignment::name);
  return found == source.rend() ? nullptr : &*found;
}

bool has_line_break(std::string_view text) { return text.find_first_of("\n\r") != std::string_view::npos; }

}  // namespace

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
        assignments.push_back(
            {command.unnamed, unnamed_value, unnamed_value.empty() ? command.unnamed : unnamed_value});
        continue;
      }
      if (option.position_key >= 0)
        throw base::BadInput("\"{}\": not expected here, options start with -- (see ut {} --help)",
                             option.value.front(), command.name);
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
    if (entry != nullptr && entry->flag()) throw base::BadInput("--{}: takes no value", name);
    refuse_missing_value(name, command);
  } catch (const program_options::error& error) {
    throw base::BadInput(error.what());
  }
  const auto is_named = [&](const Assignment& given) { return given.origin == "--" + command.unnamed; };
  if (unnamed > 0 && !command.unnamed_many && std::ranges::any_of(assignments, is_named))
    throw base::BadInput("\"{}\": given, and --{} too; leave one of the two out", unnamed_value, command.unnamed);
  return assignments;
}

std::vector<Assignment> read_config(const std::filesystem::path& path, const CommandEntry& command) {
  std::vector<Assignment> assignments;
  std::map<std::string, int> lines;  // line numbers by name
  const std::string text = base::read_file(path, "--config", "a file of lines name = value");
  for (const auto& [number, name, value] : config_lines(text, path.string())) {
    const auto origin = fmt::format("{} line {}: {}", path.string(), number, name);
    const OptionEntry* entry = find_option(name, command.bit);
    if (entry == nullptr) refuse_unknown(name, origin, command);
    const auto [before, is_new] = lines.emplace(name, number);
    if (!is_new && !entry->repeatable)
      throw base::BadInput("{}: is set in line {} already; leave one of the two out", origin, before->second);
    assignments.push_back({name, value, origin});
  }
  if (path.filename() == config_name)
    take_pieces_of(std::filesystem::absolute(path).parent_path(), command, assignments);
  return assignments;
}

std::vector<Assignment> read_model_options(const std::filesystem::path& model, const CommandEntry& command) {
  const auto path = model / model_config_name;
  const auto config = base::parse_json(base::read_file(path, "--from", "a directory that ut export wrote"));
  if (!config.is_object() || !config.contains("options") || !config["options"].is_object())
    throw base::BadInput("{}: not a JSON object that has \"options\"", path.string());
  std::vector<Assignment> assignments;
  for (const auto& [name, value] : config["options"].items()) {
    const auto origin = fmt::format("{}: {}", path.string(), name);
    if (find_option(name, command.bit) == nullptr) refuse_unknown(name, origin, command);
    assignments.push_back({name, value.is_string() ? value.get<std::string>() : value.dump(), origin});
  }
  take_pieces_of(model, command, assignments);
  return assignments;
}

void check_schedule(const std::vector<std::vector<Assignment>>& sources) {
  bool is_factor = false;  // whether the learning rate is one in the schedule so far
  std::map<std::string_view, const Assignment*> given;
  for (const auto& source : sources) {
    const Assignment* schedule = find_assignment(source, "schedule");
    const bool was_factor = is_factor;
    if (schedule != nullptr) is_factor = schedule->value == "inverse-square-root";
    for (const std::string_view name : {"learning-rate", "warmup"}) {
      const Assignment* here = find_assignment(source, name);
      if (here == nullptr && is_factor != was_factor && given.contains(name))
        throw base::BadInput("{}: needs --{} beside it: {} = {} was given for another schedule", schedule->origin, name,
                             given[name]->origin, given[name]->value);
      if (here != nullptr) given[name] = here;
    }
  }
}

void apply(Options& options, const std::vector<Assignment>& assignments, const CommandEntry& command) {
  for (const bool sets_others : {true, false}) {
    for (const auto& assignment : assignments) {
      const auto& entry = *find_option(assignment.name, command.bit);
      if (entry.sets_others != sets_others) continue;
      if (!datasets::is_utf8(assignment.value))  // what a run writes down has to be
        throw base::BadInput("{}: is not UTF-8, needs UTF-8", assignment.origin);
      if (has_line_break(assignment.value) || !entry.set(options, assignment.value))
        throw base::BadInput("{}: \"{}\" given, needs {}{}", assignment.origin, assignment.value,
                             needed_by(entry, assignment.value),
                             has_line_break(assignment.value) ? " without line breaks" : "");
      // A relative path is written down as an absolute one.
      const std::string whole = entry.get(options);
      if (!datasets::is_utf8(whole) || has_line_break(whole))
        throw base::BadInput("{}: the name of the working directory {}; start ut in another", assignment.origin,
                             has_line_break(whole) ? "has a line break" : "is not UTF-8, needs UTF-8");
    }
  }
}

}  // namespace ut::launcher
