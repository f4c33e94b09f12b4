#pragma once

#include <string>

#include "launcher/options/options.h"

namespace ut::launcher {

// Options beside those that are recorded. All throw base::BadInput.

/// Of a run that goes on: options that were `recorded` when it began and may not change.
void check_unchanged(const Options& recorded, const Options& options);
/// Of a run whose checkpoint a command (a bit) works with, against the options that are recorded in that (to_config()):
/// only a file that was altered differs from them, or what the command may be given itself.
void check_as_in_checkpoint(const std::string& recorded, const Options& options, const std::string& checkpoint,
                            unsigned command);
/// Of a model that was exported with the first, in the directory `from`: whatever its parameters are used for later,
/// the options may not say that they make another one.
void check_same_model(const Options& exported, const Options& options, const std::string& from);

}  // namespace ut::launcher
