#pragma once

#include "launcher/options/options.h"

namespace ut::launcher {

// What no option can say for itself. All throw base::BadInput.

/// Of the model and how ranks share it.
void check_together(const Options& options);
/// Of how it is trained, which commands that only read a run leave as it was.
void check_training(const Options& options);
/// Of a run that goes on: options that were `recorded` when it began and may not change.
void check_unchanged(const Options& recorded, const Options& options);
/// Of a run that goes on from a checkpoint, against the options that are recorded in that (to_config()): only a file
/// that was altered differs from them.
void check_as_in_checkpoint(const std::string& recorded, const Options& options, const std::string& checkpoint);
void check_bench(const Options& options);
void check_plan(const Options& options);
/// That a file can be written there, before there is anything to write; nothing where none is given.
void check_output_file(const char* option, const std::string& file);
void check_report(const Options& options);
/// That there is what the command, a bit, cannot do without: files and directories it reads and writes, but for runs'.
void check_given(const Options& options, unsigned command);

}  // namespace ut::launcher
