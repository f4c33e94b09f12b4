#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "launcher/start/hosts.h"

namespace ut::launcher {

/// The ranks to start.
struct SpawnRequest {
  std::int64_t ranks = 1;
  std::int64_t threads = 0;           // per rank; 0: OMP_NUM_THREADS if it is set, otherwise a host's cores / its ranks
  bool reads_standard_input = false;  // rank 0 reads this process's standard input
  std::vector<std::string> arguments;  // of the program, without its name
  std::vector<Host> hosts;             // filled in this order; none: on this machine, however many cores it has
  std::int64_t timeout = 300;          // seconds after which a host that cannot be reached ends the job, >= 10
  std::string metrics;                 // file that records updates, for messages; empty: none
};

}  // namespace ut::launcher
