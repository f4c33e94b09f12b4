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
void check_bench(const Options& options);
void check_plan(const Options& options);
void check_report(const Options& options);
/// That there is what the command, a bit, cannot do without: files and directories it reads and writes, but for runs'.
void check_given(const Options& options, unsigned command);

}  // namespace ut::launcher
