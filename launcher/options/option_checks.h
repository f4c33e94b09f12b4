#pragma once

#include "launcher/options/options.h"

namespace ut::launcher {

// What no option can say for itself. All throw base::BadInput.

/// Of the model, its data and how ranks share it.
void check_together(const Options& options);
/// Of ranks that share a sequence by its heads, of which there have to be as many.
void check_heads_suffice(const Options& options, std::int64_t sequence_parallel);
/// Of how it is trained, which commands that only read a run leave as it was.
void check_training(const Options& options);
/// Of a run that goes on: options that were `recorded` when it began and may not change.
void check_unchanged(const Options& recorded, const Options& options);
/// Of a run whose checkpoint a command (a bit) works with, against the options that are recorded in that (to_config()):
/// only a file that was altered differs from them, or what the command may be given itself.
void check_as_in_checkpoint(const std::string& recorded, const Options& options, const std::string& checkpoint,
                            unsigned command);
/// Of a model that was exported with the first, in the directory `from`: whatever its parameters are used for later,
/// the options may not say that they make another one.
void check_same_model(const Options& exported, const Options& options, const std::string& from);
void check_bench(const Options& options);
void check_plan(const Options& options);
/// That a file can be written there, before there is anything to write; nothing where none is given. What is there is
/// only written over where it begins as what is to be written, or is empty.
void check_output_file(const char* option, const std::string& file, std::string_view begins);
void check_report(const Options& options);
/// That there is what the command, a bit, cannot do without: files and directories it reads and writes, but for runs'.
void check_given(const Options& options, unsigned command);

}  // namespace ut::launcher
