#pragma once

#include <string>
#include <vector>

namespace ut::launcher {

/// Has OpenMP's threads, in programs that are started from now on, sleep sooner where they wait, unless the environment
/// says how they wait: by themselves they spin for so long that, where others want the cores too, an update takes twice
/// the time.
void set_short_spins();

/// The same for this program: since OpenMP reads it when it is loaded, the program begins again, once, with the same
/// `arguments`; before it has read anything, which it would not find again in a pipe. Returns where there is nothing to
/// be done: one thread (OMP_NUM_THREADS), or threads that are bound, which it would all find on the first one's cores.
void begin_again_with_short_spins(std::vector<std::string> arguments);

}  // namespace ut::launcher
