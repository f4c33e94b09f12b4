#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "launcher/start/hosts.h"

namespace ut::launcher {

/// Ranks to be started.
struct SpawnRequest {
  std::int64_t ranks = 1;
  std::int64_t threads = 0;            // per rank; 0: OMP_NUM_THREADS where it is set, else cores / ranks
  bool reads_standard_input = false;   // rank 0 reads what is given to this process
  std::vector<std::string> arguments;  // of the program, without its name
  std::vector<Host> hosts;             // filled in this order; none: on this machine, however many cores it has
  std::int64_t timeout = 300;          // seconds in which a host that cannot be reached any more ends the job, >= 10
  std::string metrics;                 // file in which updates are recorded, for messages; empty: none
};

}  // namespace ut::launcher
