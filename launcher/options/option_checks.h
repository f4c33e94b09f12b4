#pragma once

#include "launcher/options/options.h"

namespace ut::launcher {

// Checks that no option can make by itself. All throw base::BadInput.

/// Checks the model, its data and how ranks share it.
void check_together(const Options& options);
/// Checks that a sequence has at least as many heads as ranks that share it by heads.
void check_heads_suffice(const Options& options, std::int64_t sequence_parallel);
/// Checks how the model is trained; commands that only read a run do not change that.
void check_training(const Options& options);
void check_bench(const Options& options);
void check_plan(const Options& options);
void check_report(const Options& options);
/// Checks that the files and directories which the command, a bit, needs are given, apart from run directories.
void check_given(const Options& options, unsigned command);

}  // namespace ut::launcher
