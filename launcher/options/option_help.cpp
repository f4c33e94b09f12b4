#include "launcher/options/option_help.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/program_options.hpp>
#include <sstream>
#include <vector>

#include "launcher/options/command_table.h"
#include "launcher/options/option_table.h"

namespace ut::launcher {
namespace {

namespace program_options = boost::program_options;

std::string describe(const OptionEntry& entry, const CommandEntry& command) {
  if (entry.recorded && starts_from_record(command)) return fmt::format("{} (default: the run's)", entry.description);
  if (!entry.shows_default) return entry.description;
  const auto value = entry.get(Options());
  return value.empty() ? entry.description : fmt::format("{} (default {})", entry.description, value);
}

}  // namespace

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
      options.add_options()(
          "config", program_options::value<std::string>()->value_name("FILE"),
          "options as lines `name = value`; the command line overrides them, and a later file overrides earlier ones");
      options.add_options()("help", "print this");
    }
    all.add(options);
  }
  return all;
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

}  // namespace ut::launcher
