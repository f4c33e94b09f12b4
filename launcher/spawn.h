#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "launcher/hosts.h"
#include "launcher/options.h"

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

/// Throws base::BadInput where --sequence-parallel does not divide the number of ranks.
void check_sequence_parallel(std::int64_t sequence_parallel, std::int64_t ranks);

/// Ranks to be started.
struct SpawnRequest {
  std::int64_t ranks = 1;
  std::int64_t threads = 0;            // per rank; 0: OMP_NUM_THREADS where it is set, else cores / ranks
  bool reads_standard_input = false;   // rank 0 reads what is given to this process
  std::vector<std::string> arguments;  // of the program, without its name
  std::vector<Host> hosts;             // filled in this order; none: on this machine, however many cores it has
  std::int64_t timeout = 300;          // seconds in which a host that cannot be reached any more ends the job, >= 10
  std::vector<int> stop_signals;       // that reach all ranks as SIGUSR1
  std::string metrics;                 // file in which updates are recorded, for messages; empty: none
};

/// What mpirun is called with. `mpirun` and `executable` are paths that all hosts have.
std::vector<std::string> mpirun_command(const SpawnRequest& request, const std::string& mpirun,
                                        const std::string& executable, bool as_root);

/// What the environment tells mpirun, unless it is set already: how to reach other hosts, and to notice that one cannot
/// be reached any more. Names and values.
std::vector<std::pair<std::string, std::string>> host_settings(std::int64_t timeout);

/// Threads for each of the ranks that share the cores: at least one.
std::int64_t threads_per_rank(std::int64_t cores, std::int64_t ranks);

/// Runs this program again as `ranks` ranks under mpirun, and waits. `stop_signals` and SIGUSR1 reach all ranks as
/// SIGUSR1; a second SIGINT ends them at once. If this process dies, so do they.
/// Returns the code that the first rank to fail ended with, or 0; 1, after a line on standard error, where a signal
/// ended a rank (with its number, host and the last update recorded) or a host was lost. Throws base::BadInput where
/// mpirun is missing.
int run_under_mpirun(const SpawnRequest& request);

/// Width of the terminal that standard output is, or 0 where it is none. Under mpirun what the starting `ut` saw:
/// there a rank's standard output always looks like a terminal.
std::int64_t terminal_columns(const Environment& get);

}  // namespace ut::launcher
