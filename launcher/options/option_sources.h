#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "launcher/options/command_table.h"
#include "launcher/options/options.h"

namespace ut::launcher {

/// One option given somewhere.
struct Assignment {
  std::string name;
  std::string value;
  std::string origin;  // how messages name it: "--heads", or file, line and name
};

// Each source as it stands there, in its order: names are options of the command, values are not looked at. All throw
// base::BadInput, one line, for what the command does not take.

/// What a person typed after the command's name. An option without its value is refused here, too.
std::vector<Assignment> read_command_line(const std::vector<std::string>& arguments, const CommandEntry& command);
/// A file of lines `name = value`, as --config takes it. Only options that may be repeated are there more than once. A
/// run's comes with the pieces that the run keeps beside it.
std::vector<Assignment> read_config(const std::filesystem::path& path, const CommandEntry& command);
/// The options that a model was exported with, and the pieces beside them. `model`: its directory.
std::vector<Assignment> read_model_options(const std::filesystem::path& model, const CommandEntry& command);

/// Sets the assignments of one source; the last one of a name counts. Throws base::BadInput for a value that is not
/// what its option needs.
void apply(Options& options, const std::vector<Assignment>& assignments, const CommandEntry& command);

/// Where a run directory has its options.
inline constexpr const char* config_name = "options.conf";
/// Where an exported model has its options.
inline constexpr const char* model_config_name = "config.json";

}  // namespace ut::launcher
