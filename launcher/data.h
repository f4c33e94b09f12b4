#pragma once

#include "launcher/options.h"

namespace ut::launcher {

/// `ut data stories`: makes stories with questions and says where they are. Returns the program's exit code.
/// Throws base::BadInput where the directory cannot be written to.
int run_data(const Options& options);

}  // namespace ut::launcher
