#pragma once

#include <filesystem>
#include <vector>

#include "dist/communicator.h"
#include "launcher/options/options.h"

namespace ut::launcher {

/// The chosen_checkpoints() that rank 0 finds, on every rank: a run that is still training may point at others a moment
/// later. Throws AgreedBadInput if there are none, or if a rank sees other checkpoints under these names. Collective.
std::vector<std::filesystem::path> agreed_checkpoints(const Options& options, dist::Communicator& world);

}  // namespace ut::launcher
