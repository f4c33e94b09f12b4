#pragma once

#include "launcher/options/options.h"

namespace ut::launcher {

/// `ut data fetch`: says where a published data set comes from and its licence, fetches its archive with curl, or takes
/// the one in the folder `--from`, compares its SHA-256 where that is known, unpacks it with tar, and compares those of
/// the files that are known. The directory is the whole of it or is not there. Returns the program's exit code. Throws
/// base::BadInput where a program is missing, the archive cannot be had, it or a file is another one, or the directory
/// is there already.
int fetch_data(const Options& options);

}  // namespace ut::launcher
