#include "launcher/options.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <boost/program_options.hpp>
#include <csignal>
#include <filesystem>
#include <iomanip>
#include <sstream>

#include "base/error.h"
#include "base/file.h"
#include "base/json.h"
#include "datasets/published.h"
#include "datasets/subwords.h"
#include "launcher/option_table.h"
#include "launcher/session.h"

namespace ut::launcher {
namespace {

namespace program_options = boost::program_options;

struct CommandEntry {
  std::string name;
  unsigned bit;
  std::string usage;
  std::string description;
  std::string unnamed = {};   // the option whose value may stand without its name
  bool unnamed_many = false;  // any number of such values, else one
};

const std::vector<CommandEntry>& commands() {
  static const std::vector<CommandEntry> table = {
      {"train", command_train, "ut train --task NAME --run-dir DIR [options]", "train a model, or go on training it"},
      {"evaluate", command_evaluate, "ut evaluate --run-dir DIR [options]", "score a trained model"},
      {"decode", command_decode, "ut decode --run-dir DIR [options] < input > output",
       "run a trained model on lines of standard input"},
      {"export", command_export, "ut export --run-dir DIR --out DIR [options]",
       "write a trained model for other programs: safetensors and JSON"},
      {"import", command_import, "ut import --from DIR --run-dir DIR [options]",
       "make a run of such a model, to be evaluated, decoded with or trained on"},
      {"score", command_score, "ut score --reference FILE [options] < lines", "score text beside its right form: BLEU"},
      {"bench", command_bench, "ut bench [options]",
       "measure speed, memory and traffic of training, on made-up symbols"},
      {"plan", command_plan, "ut plan [options]",
       "predict time, memory and efficiency of training on a cluster, and choose how ranks share the work"},
      {"doctor", command_doctor, "ut doctor [--ranks N] [--run-dir DIR]", "say whether this place can run it"},
      {"data stories", command_data_stories, "ut data stories --out DIR [options]",
       "make stories with questions, in bAbI's format"},
      {"data sentencepiece", command_data_sentencepiece, "ut data sentencepiece --data DIR [options]",
       "make the pieces of words that translation works with"},
      {"data check", command_data_check, "ut data check DIR [options]", "describe a data set and say what is wrong",
       "data"},
      {"data fetch", command_data_fetch, "ut data fetch NAME [options]",
       "fetch a published data set, from its address or a folder", "name"},
      {"report", command_report, "ut report RUN_DIR... [options]",
       "make a page with the curves, ponder times and attention of runs", "run-dir", true}};
  return table;
}

/// The second words of the commands whose first this is.
std::vector<std::string> names_below(const std::string& group) {
  std::vector<std::string> names;
  for (const auto& command : commands())
    if (command.name.starts_with(group + " ")) names.push_back(command.name.substr(group.size() + 1));
  return names;
}

bool is_group(const std::string& name) { return !names_below(name).empty(); }

/// Number of single-letter insertions, removals and replacements between two words.
std::size_t edit_distance(const std::string& a, const std::string& b) {
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replaced = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({replaced, row[j] + 1, row[j - 1] + 1});
    }
  }
  return row[b.size()];
}

/// "; did you mean X?" where one of the names is near, else nothing.
std::string suggestion(const std::string& given, const std::vector<std::string>& names, const std::string& prefix) {
  std::string nearest;
  std::size_t smallest = std::max<std::size_t>(2, given.size() / 3) + 1;
  for (const auto& name : names) {
    const auto distance = edit_distance(given, name);
    if (distance < smallest) {
      smallest = distance;
      nearest = name;
    }
  }
  return nearest.empty() ? "" : fmt::format("; did you mean {}{}?", prefix, nearest);
}

const CommandEntry& find_command(const std::string& name) {
  std::vector<std::string> names;
  for (const auto& command : commands()) {
    if (command.name == name) return command;
    names.push_back(command.name);
  }
  throw base::BadInput(fmt::format("unknown command \"{}\"{} (commands: {}; see ut --help)", name,
                                   suggestion(name, names, ""), fmt::join(names, ", ")));
}

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
  const bool from_record = entry.recorded && entry.group != "Ranks" && starts_from_record(command);
  if (from_record) return fmt::format("{} (default: the run's)", entry.description);
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
                            "options as lines `name = value`; the command line comes before them");
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
  try {
    const auto description = boost_options(command);
    const auto parsed = program_options::command_line_parser(arguments)
                            .options(description)
                            .style(style::allow_long | style::long_allow_adjacent | style::long_allow_next)
                            .run();
    for (const auto& option : parsed.options) {
      if (option.position_key >= 0 && !command.unnamed.empty() && (unnamed++ == 0 || command.unnamed_many)) {
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
    name = name.substr(0, name.find('=')).substr(name.find_first_not_of('-'));
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
  return assignments;
}

std::string trimmed(const std::string& text) {
  const auto begin = text.find_first_not_of(" \t\r");
  if (begin == std::string::npos) return "";
  return text.substr(begin, text.find_last_not_of(" \t\r") + 1 - begin);
}

/// The value of a line, which ends at ` #`. A value that holds such characters itself stands in quotes.
std::string config_value(const std::string& text, const std::string& where) {
  if (!text.starts_with('"')) return trimmed(text.starts_with('#') ? "" : text.substr(0, text.find(" #")));
  std::istringstream stream(text);
  std::string value;
  std::string rest;
  const bool closed = !(stream >> std::quoted(value)).fail();
  std::getline(stream, rest);
  rest = trimmed(rest);
  if (!closed || (!rest.empty() && !rest.starts_with('#')))
    throw base::BadInput(fmt::format("{}: the quotes around the value are not closed, or something follows", where));
  return value;
}

std::string quoted_if_needed(const std::string& value) {
  if (value == trimmed(value) && value.find_first_of("#\"") == std::string::npos) return value;
  std::ostringstream stream;
  stream << std::quoted(value);
  return stream.str();
}

std::vector<Assignment> read_config(const std::filesystem::path& path, const CommandEntry& command) {
  std::vector<Assignment> assignments;
  std::istringstream stream(base::read_file(path));
  std::string line;
  for (int number = 1; std::getline(stream, line); ++number) {
    line = trimmed(line);
    if (line.empty() || line.starts_with('#')) continue;
    const auto where = fmt::format("{} line {}", path.string(), number);
    const auto equals = line.find('=');
    if (equals == std::string::npos)
      throw base::BadInput(fmt::format("{}: \"{}\" is not of the form name = value", where, line));
    const auto name = trimmed(line.substr(0, equals));
    const auto origin = fmt::format("{}: {}", where, name);
    if (find_option(name, command.bit) == nullptr) refuse_unknown(name, origin, command);
    assignments.push_back({name, config_value(trimmed(line.substr(equals + 1)), where), origin});
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

/// Sets the assignments of one source; the last one of a name counts.
void apply(Options& options, const std::vector<Assignment>& assignments, const CommandEntry& command) {
  for (const bool sets_others : {true, false}) {
    for (const auto& assignment : assignments) {
      const auto& entry = *find_option(assignment.name, command.bit);
      if (entry.sets_others != sets_others) continue;
      const bool has_line_break = assignment.value.find_first_of("\n\r") != std::string::npos;
      if (has_line_break || !entry.set(options, assignment.value))
        throw base::BadInput(
            fmt::format("{}: \"{}\" given, needs {}", assignment.origin, assignment.value, entry.expected));
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
  options.recorded_ranks = std::exchange(options.ranks, 0);
  const auto kept_model = std::filesystem::absolute(given.run_dir) / datasets::subword_model_name;
  if (base::is_there(kept_model)) options.task.sentencepiece = kept_model.string();
  if (command.bit != command_train) {
    // How many ranks trained a model says nothing about where it is used.
    options.recorded_ranks = 0;
    options.sequence_parallel = 1;
    options.threads = 0;
    options.device = DeviceChoice::automatic;
    options.communicator = CommunicatorChoice::automatic;
    options.share_gpus = false;
    options.hostfile.clear();
  }
  return options;
}

void check_unchanged(const Options& recorded, const Options& options) {
  for (const auto& entry : option_table()) {
    if (!entry.belongs_to(command_train) || !entry.recorded || entry.may_change) continue;
    const auto before = entry.get(recorded);
    const auto now = entry.get(options);
    if (before == now) continue;
    throw base::BadInput(
        fmt::format("--{}: the run in {} has {}, which cannot become {} when resuming; leave it out, or start another "
                    "run with another --run-dir",
                    entry.name, options.run_dir, before, now));
  }
}

/// Who reads sequences in order, a position after the other, has no use for these.
void check_lstm(const Options& options) {
  const core::ModelOptions& model = options.model;
  const auto refuse = [](const char* given, const char* why) {
    throw base::BadInput(fmt::format("{}: not with --model lstm, {}", given, why));
  };
  if (options.sequence_parallel > 1)
    refuse("--sequence-parallel above 1", "which reads a sequence in order on one rank; give 1, ranks share the batch");
  if (model.halting.any()) refuse("--halting", "whose positions take one step each; leave it out");
  if (model.recompute != core::Recompute::none) refuse("--recompute", "which has no steps to make again; leave it out");
  if (model.bfloat16_products) refuse("--precision bfloat16", "which multiplies in --dtype; leave it out");
}

/// What no option can say for itself.
void check_together(const Options& options) {
  const auto& model = options.model;
  if (model.kind == core::ModelKind::lstm) check_lstm(options);
  if (model.d_model % model.heads != 0)
    throw base::BadInput(
        fmt::format("--heads: {} given, needs a divisor of --d-model, which is {}", model.heads, model.d_model));
  if (options.exchange.form == dist::ExchangeForm::heads) {
    if (options.sequence_parallel > model.heads)
      throw base::BadInput(
          fmt::format("--exchange heads: {} heads cannot be shared by {} ranks of a sequence; give --sequence-parallel "
                      "of at most --heads, or another --exchange",
                      model.heads, options.sequence_parallel));
    if (options.exchange.sent == dist::Sent::states)
      throw base::BadInput(
          "--exchange-sends states: not with --exchange heads, whose ranks need only some heads of a "
          "row's keys and values; give keys-values, or another --exchange");
  }
  if (model.bfloat16_products && model.precision == core::Precision::float64)
    throw base::BadInput(
        "--precision bfloat16: not with --dtype float64; products in bfloat16 need float32 around them");
  if (model.d_model % 2 != 0)
    throw base::BadInput(fmt::format("--d-model: {} given, needs an even number (sines and cosines)", model.d_model));
  const std::string& task = options.task.task;
  if (std::ranges::count(datasets::file_task_names(), task) > 0 && options.task.data.empty())
    throw base::BadInput(fmt::format("--data: not given, task {} needs the directory of its files{}", task,
                                     task == "babi" ? " (ut data stories makes some)" : ""));
  const auto& schedule = options.optimizer.schedule;
  if (schedule.kind == core::ScheduleKind::cosine && schedule.warmup >= options.max_updates)
    throw base::BadInput(
        fmt::format("--warmup: {} given, needs fewer than --max-updates, which is {}, for the cosine "
                    "schedule",
                    schedule.warmup, options.max_updates));
}

void check_plan(const Options& options) {
  const PlanOptions& plan = options.plan;
  if (!plan.machine.empty() && !plan.calibration.empty())
    throw base::BadInput(
        fmt::format("--machine: {} given, but --calibration has the numbers; give one of the two", plan.machine));
  if (plan.gpus_per_node == 0) return;
  if (plan.nodes == 0 && options.ranks % plan.gpus_per_node != 0)
    throw base::BadInput(fmt::format("--gpus-per-node: {} given, needs a divisor of --ranks, which is {}",
                                     plan.gpus_per_node, options.ranks));
  if (plan.nodes > 0 && options.ranks > 0 && options.ranks != plan.nodes * plan.gpus_per_node)
    throw base::BadInput(fmt::format("--ranks: {} given, but --nodes and --gpus-per-node make {}; leave --ranks out",
                                     options.ranks, plan.nodes * plan.gpus_per_node));
}

void check_bench(const Options& options) {
  const BenchOptions& bench = options.bench;
  if (bench.min_length > bench.length)
    throw base::BadInput(
        fmt::format("--min-length: {} given, needs at most --length, which is {}", bench.min_length, bench.length));
  if (bench.encoder_only && bench.decoder_only)
    throw base::BadInput("--encoder-only: given, and --decoder-only too; give one of the two, or none for both stacks");
  if (bench.decode && bench.encoder_only)
    throw base::BadInput("--greedy: given, but with --encoder-only there is nothing to decode; give one of the two");
  if (bench.ponder == 0) return;
  const core::HaltingOptions& halting = options.model.halting;
  std::vector<std::int64_t> limits;  // of the stacks that halt
  if (halting.encoder != core::Halting::none && !bench.decoder_only) limits.push_back(steps_of(options).encoder);
  if (halting.decoder != core::Halting::none && !bench.encoder_only) limits.push_back(steps_of(options).decoder);
  if (limits.empty())
    throw base::BadInput(fmt::format(
        "--bench-ponder: {} given, but no position halts; needs --halting act or --halting act-copy", bench.ponder));
  const std::int64_t most = *std::ranges::min_element(limits);
  if (bench.ponder > static_cast<double>(most))
    throw base::BadInput(
        fmt::format("--bench-ponder: {} given, needs at most the {} steps that a position may take "
                    "(--max-steps, --steps)",
                    bench.ponder, most));
  if (bench.ponder * (1 - bench.ponder_skew) < 1 || bench.ponder * (1 + bench.ponder_skew) > static_cast<double>(most))
    throw base::BadInput(
        fmt::format("--bench-skew: {} given, needs to leave both halves of a sequence a mean ponder time "
                    "in 1 to {}, which --bench-ponder {} does not",
                    bench.ponder_skew, most, bench.ponder));
}

void check_report(const Options& options) {
  const ReportOptions& report = options.report;
  if (report.runs.empty() && report.scaling.empty())
    throw base::BadInput("no run directory given, as in: ut report runs/one; or --scaling FILE");
  if (report.runs.empty() && report.out.empty())
    throw base::BadInput("--out: not given, needs the file to write where there is no run directory to put it in");
  if (!report.svg.empty() && !report.png.empty())
    throw base::BadInput(fmt::format("--png: {} given, but --svg is {}; give one of the two", report.png, report.svg));
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
    throw base::BadInput(fmt::format("--task: not given, needs {}", find_option("task", command_train)->expected));
  check_together(options);
  if (command.bit == command_evaluate) options.task.splits = {options.split};
  if (command.bit == command_decode) options.task.splits.clear();
  return options;
}

void check_data(const Options& options, const CommandEntry& command) {
  if (command.bit == command_data_stories && options.data.out.empty())
    throw base::BadInput("--out: not given, needs the directory to write to");
  if ((command.bit == command_data_sentencepiece || command.bit == command_data_check) && options.task.data.empty())
    throw base::BadInput("--data: not given, needs the directory of the data");
  if (command.bit == command_data_fetch && options.data.name.empty())
    throw base::BadInput(
        fmt::format("--name: not given, needs a data set: {}", fmt::join(datasets::published_names(), ", ")));
}

Options parse_for(const CommandEntry& command, const std::vector<std::string>& arguments) {
  auto command_line = read_command_line(arguments, command);
  std::vector<std::vector<Assignment>> sources;
  std::erase_if(command_line, [&](const Assignment& assignment) {
    if (assignment.name == "config") sources.push_back(read_config(assignment.value, command));
    return assignment.name == "config";
  });
  sources.push_back(std::move(command_line));
  Options options;
  for (const auto& source : sources) apply(options, source, command);
  if (command.bit == command_export && options.exchange_of_models.out.empty())
    throw base::BadInput("--out: not given, needs the directory to write to");
  if (command.bit == command_import) {
    if (options.exchange_of_models.from.empty())
      throw base::BadInput("--from: not given, needs a directory as ut export writes one");
    sources.insert(sources.begin(), read_model_options(options.exchange_of_models.from, command));
  }
  if ((command.bit & command_data) != 0) {
    check_data(options, command);
  } else if (command.bit == command_score) {
    if (options.score.references.empty())
      throw base::BadInput("--reference: not given, needs a file with the right line for each line of standard input");
  } else if (command.bit == command_report) {
    check_report(options);
  } else if (command.bit == command_bench || command.bit == command_plan) {
    check_together(options);
    check_bench(options);
    check_plan(options);
    if (command.bit == command_plan) options.sequence_parallel = 1;  // what it measures is not a mesh
  } else if (command.bit == command_doctor) {
    // It looks at the place, not at a run.
    options.sequence_parallel = 1;
  } else {
    options = run_options(options, sources, command);
  }
  if (options.model.kind == core::ModelKind::lstm) options.sequence_parallel = 1;  // nothing is left to choose
  options.command = command.name;
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
    text += fmt::format("{} = {}\n", entry.name, quoted_if_needed(value));
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
