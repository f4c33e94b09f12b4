#pragma once

#include <filesystem>
#include <vector>

#include "dist/communicator.h"
#include "launcher/options/options.h"

namespace ut::launcher {

/// chosen_checkpoints() as rank 0 finds them, on every rank: a run that is still training points elsewhere a moment
/// later. Throws AgreedBadInput where there are none, or where a rank sees others under these names. Collective.
std::vector<std::filesystem::path> agreed_checkpoints(const Options& options, dist::Communicator& world);

}  // namespace ut::launcher
