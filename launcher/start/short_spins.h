#pragma once

#include <string>
#include <vector>

namespace ut::launcher {

/// Makes OpenMP's threads, in programs started from now on, sleep sooner when they wait, unless the environment says
/// how they wait. By default they spin for so long that an update takes twice the time if other programs want the
/// cores, too.
void set_short_spins();

/// The same for this program. OpenMP reads the setting when it is loaded, so the program begins again, once, with the
/// same `arguments`. To be called before the program has read anything, which it would not find again in a pipe.
/// Returns if there is nothing to do: the setting is there, there is one thread (OMP_NUM_THREADS), or threads are
/// bound. A second beginning would bind them all to the first one's cores.
void begin_again_with_short_spins(std::vector<std::string> arguments);

}  // namespace ut::launcher
