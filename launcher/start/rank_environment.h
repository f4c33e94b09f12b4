#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "launcher/options/options.h"
#include "launcher/start/hosts.h"

namespace ut::launcher {

/// What the environment says about MPI or Slurm around this process.
struct RankEnvironment {
  bool is_rank = false;         // mpirun or srun has started this process
  std::int64_t rank = 0;        // its number
  std::int64_t world = 0;       // how many were started; 0: only MPI knows
  std::int64_t local_rank = 0;  // its number among those of its host; 0 where nothing says
  bool can_meet = true;         // false: srun has started them without PMIx, by which Open MPI finds the others
};

using Environment = std::function<const char*(const char*)>;

/// Reads the variables that Open MPI, PMIx, PMI and Slurm set for the processes they start.
/// `get` answers as std::getenv does.
RankEnvironment find_rank_environment(const Environment& get);

/// How many ranks the command runs on; 0 where only MPI knows. On `hosts`, if there are any, as many as they have
/// slots, where nothing else is asked for. Throws base::BadInput where --ranks is not the number that mpirun or srun
/// started, or more than the slots, or --sequence-parallel does not divide it.
std::int64_t choose_ranks(const Options& options, const RankEnvironment& environment,
                          const std::vector<Host>& hosts = {});

/// How many ranks share a sequence: what is given or, where that divides the ranks, as the run that is resumed has it;
/// 0: as ut plan will have it. Throws base::BadInput where --sequence-parallel does not divide the number of ranks.
std::int64_t choose_sequence_parallel(const Options& options, std::int64_t ranks);

/// Where terminal_columns() finds what the starting `ut` saw.
inline constexpr const char* terminal_variable = "UT_TERMINAL";

/// Width of the terminal that standard output is, or 0 where it is none. Under mpirun what the starting `ut` saw:
/// there a rank's standard output always looks like a terminal.
std::int64_t terminal_columns(const Environment& get);

}  // namespace ut::launcher
