#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "launcher/options/options.h"

namespace ut::launcher {

struct Assignment;
struct CommandEntry;

/// The options of a command that makes a run or works with one: the sources', set one after the other, over what the
/// run directory has recorded where the run is there already, else over the defaults. `given`: what the sources alone
/// give. Throws base::BadInput where there is no such run, and where the options do not go together or with it.
Options run_options(const Options& given, const std::vector<std::vector<Assignment>>& sources,
                    const CommandEntry& command);

/// The options of training, resolved, as a file that `--config` takes: it gives these Options again, but for
/// the run directory and how much is said. What is not given is left out.
std::string to_config(const Options& options);

/// The options that are recorded beside what a command makes, by name: numbers and truth values as such, names as text.
nlohmann::ordered_json recorded_options(const Options& options, unsigned command);

}  // namespace ut::launcher
