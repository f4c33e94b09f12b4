#pragma once

#include "launcher/options/options.h"

namespace ut::launcher {

/// `ut score`: the score of standard input's lines against those of the --reference files, printed with how it was
/// made. Returns the program's exit code. Throws base::BadInput where the lines cannot be compared.
int run_score(const Options& options);

}  // namespace ut::launcher
