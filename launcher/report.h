#pragma once

#include "launcher/options/options.h"

namespace ut::launcher {

/// `ut report`: one page, or one picture, of the runs that the options name. Returns the exit code. Throws
/// base::BadInput for a run or table that cannot be read; nothing is written then.
int run_report(const Options& options);

}  // namespace ut::launcher
