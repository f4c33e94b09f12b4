#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace ut::launcher {

/// A command of `ut`, of one word or two.
struct CommandEntry {
  std::string name;
  unsigned bit;
  std::string usage;
  std::string description;
  std::string unnamed = {};   // the option whose value may be given without its name
  bool unnamed_many = false;  // any number of such values; otherwise one
};

const std::vector<CommandEntry>& commands();

/// Throws base::BadInput, with the nearest name, if there is no such command.
const CommandEntry& find_command(std::string_view name);

/// Whether the command uses a trained model, with the options that its run directory has recorded.
bool starts_from_record(const CommandEntry& command);

/// The second words of the commands whose first word is `group`.
std::vector<std::string> names_below(const std::string& group);
inline bool is_group(const std::string& name) { return !names_below(name).empty(); }

}  // namespace ut::launcher
