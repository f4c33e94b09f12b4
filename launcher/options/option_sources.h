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

// Each function reads one source and keeps its order. It checks that the command has options of these names, but not
// their values. All throw base::BadInput, one line, for what the command does not take.

/// What a person typed after the command's name. Here an option without its value is refused, too.
std::vector<Assignment> read_command_line(const std::vector<std::string>& arguments, const CommandEntry& command);
/// A file of lines `name = value`, as --config takes it. Only repeatable options may occur more than once. If the file
/// is a run's, the model of pieces that the run keeps beside it is added.
std::vector<Assignment> read_config(const std::filesystem::path& path, const CommandEntry& command);
/// The options that a model was exported with, and the model of pieces beside them. `model`: its directory.
std::vector<Assignment> read_model_options(const std::filesystem::path& model, const CommandEntry& command);

/// Refuses a schedule with which the learning rate and warm-up of an earlier source would not mean what they did there,
/// unless its own source gives them anew. Throws base::BadInput.
void check_schedule(const std::vector<std::vector<Assignment>>& sources);

/// Applies the assignments of one source; of several with the same name the last one counts, unless the option is
/// repeatable. Throws base::BadInput for a value that is not what its option needs.
void apply(Options& options, const std::vector<Assignment>& assignments, const CommandEntry& command);

/// The options file of a run directory.
inline constexpr const char* config_name = "options.conf";
/// The options file of an exported model's directory.
inline constexpr const char* model_config_name = "config.json";

}  // namespace ut::launcher
