#pragma once

#include "launcher/options/options.h"

namespace ut::launcher {

/// `ut data …`: makes, fetches and checks data sets and says what it did. Returns the program's exit code, for a data
/// set that training would refuse 2. Throws base::BadInput where something cannot be read or written.
int run_data(const Options& options);

}  // namespace ut::launcher
