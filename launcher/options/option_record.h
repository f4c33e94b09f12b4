#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "launcher/options/options.h"

namespace ut::launcher {

struct Assignment;
struct CommandEntry;

/// The options of a command that makes a run or works with one: the sources, applied one after the other, over the
/// options that the run directory has recorded, if the command goes on with a run, otherwise over the defaults.
/// `given`: the options from the sources alone. Throws base::BadInput if there is no such run, or if the options
/// contradict one another or the run.
Options run_options(const Options& given, const std::vector<std::vector<Assignment>>& sources,
                    const CommandEntry& command);

/// The resolved options of training, as a file that `--config` takes. The file gives these Options again, except the
/// run directory and how much is said. Options without a value are left out.
std::string to_config(const Options& options);

/// The options that are recorded beside a command's results, by name: numbers and truth values as such, names as text.
nlohmann::ordered_json recorded_options(const Options& options, unsigned command);

}  // namespace ut::launcher
