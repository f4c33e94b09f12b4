#pragma once

#include <cstdint>
#include <vector>

#include "launcher/options/options.h"
#include "launcher/start/hosts.h"
#include "launcher/start/rank_environment.h"

namespace ut::launcher {

/// How many ranks the command runs on; 0 where only MPI knows. On `hosts`, if there are any, as many as they have
/// slots, where nothing else is asked for. Throws base::BadInput where --ranks is not the number that mpirun or srun
/// started, or more than the slots, or --sequence-parallel does not divide it.
std::int64_t choose_ranks(const Options& options, const RankEnvironment& environment,
                          const std::vector<Host>& hosts = {});

/// How many ranks share a sequence: what is given or, where that divides the ranks, as the run that is resumed has it;
/// 0: as ut plan will have it. Throws base::BadInput where --sequence-parallel does not divide the number of ranks.
std::int64_t choose_sequence_parallel(const Options& options, std::int64_t ranks);

}  // namespace ut::launcher
