#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "launcher/start/hosts.h"
#include "launcher/start/rank_environment.h"

namespace ut::launcher {

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

/// The names of what an environment (NAME=VALUE, …, null) says to a rank's libraries, which ranks on other hosts are to
/// be told too; sorted.
std::vector<std::string> variables_for_hosts(const char* const* environment);

/// What mpirun is called with. `mpirun` and `executable` are paths that all hosts have; `variables` are passed to them.
std::vector<std::string> mpirun_command(const SpawnRequest& request, const std::string& mpirun,
                                        const std::string& executable, bool as_root,
                                        const std::vector<std::string>& variables = {});

/// What the environment tells mpirun, unless it is set already: how to reach other hosts, and to notice that one cannot
/// be reached any more. Names and values.
std::vector<std::pair<std::string, std::string>> host_settings(std::int64_t timeout);

/// Threads for each of the ranks that share the cores: at least one.
std::int64_t threads_per_rank(std::int64_t cores, std::int64_t ranks);

/// Throws base::BadInput where there is not enough room for what mpirun keeps while ranks run (in TMPDIR, or /tmp): it
/// would say nothing and wait for ever.
void check_room_to_start(const Environment& get);

/// Runs this program again as `ranks` ranks under mpirun, and waits. `stop_signals` and SIGUSR1 reach all ranks as
/// SIGUSR1; a second SIGINT ends them at once, and mpirun five seconds later where it does not end. If this process
/// dies, so do they.
/// Returns the code that the first rank to fail ended with, or 0; 1, after a line on standard error, where a signal
/// ended a rank (with its number, host and the last update recorded) or a host was lost. Throws base::BadInput where
/// mpirun is missing or has no room.
int run_under_mpirun(const SpawnRequest& request);

}  // namespace ut::launcher
