#pragma once

#include <cstdint>
#include <vector>

#include "launcher/options/options.h"
#include "launcher/start/hosts.h"
#include "launcher/start/rank_environment.h"

namespace ut::launcher {

/// How many ranks the command runs on; 0 if only MPI knows. On `hosts`, if there are any, as many as they have slots,
/// unless another number is asked for; one if srun has started one process and none is asked for. Throws base::BadInput
/// if --ranks is not the number that mpirun or srun started, exceeds the slots or 32 a core of this machine, or is not
/// divided by --sequence-parallel.
std::int64_t choose_ranks(const Options& options, const RankEnvironment& environment,
                          const std::vector<Host>& hosts = {});

/// How many ranks share a sequence: what is given, otherwise what the resumed run has recorded, if that divides the
/// ranks; 0: ut plan chooses. Throws base::BadInput if --sequence-parallel does not divide the number of ranks.
std::int64_t choose_sequence_parallel(const Options& options, std::int64_t ranks);

}  // namespace ut::launcher
