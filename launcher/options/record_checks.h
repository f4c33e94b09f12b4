#pragma once

#include <string>
#include <vector>

#include "launcher/options/options.h"

namespace ut::launcher {

struct Assignment;

// Checks of options against those that are recorded. All throw base::BadInput.

/// For a run that goes on: the options that may not change must be as `recorded`. `given`: what was applied to those.
void check_unchanged(const Options& recorded, const Options& options, const std::vector<Assignment>& given);
/// For a command (a bit) that works with a run's checkpoint. `recorded` are the checkpoint's options (to_config()). The
/// run's options differ from them only if the options file was altered, or in options that the command itself takes.
void check_as_in_checkpoint(const std::string& recorded, const Options& options, const std::string& checkpoint,
                            unsigned command);
/// For a model that was exported with the options `exported` to the directory `from`: whatever its parameters are used
/// for later, `options` may not describe another model.
void check_same_model(const Options& exported, const Options& options, const std::string& from);

}  // namespace ut::launcher
