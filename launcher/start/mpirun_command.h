#pragma once

#include <string>
#include <vector>

#include "launcher/start/spawn_request.h"

namespace ut::launcher {

/// The path of mpirun, the first in PATH. Throws base::BadInput where there is none.
std::string find_mpirun(const SpawnRequest& request);

/// The words of mpirun's command line. `mpirun` and `executable` are paths that all hosts have. `variables`: names of
/// environment variables that other hosts are to have, too.
std::vector<std::string> mpirun_command(const SpawnRequest& request, const std::string& mpirun,
                                        const std::string& executable, bool as_root,
                                        const std::vector<std::string>& variables = {});

}  // namespace ut::launcher
