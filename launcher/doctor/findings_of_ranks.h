#pragma once

#include <vector>

#include "launcher/doctor/findings.h"

namespace ut::launcher {

/// [ranks]: what each looked at on its own host. Gives what rank 0 found and, each once and with its hosts in front,
/// the faults that other ranks found.
std::vector<Finding> merge_findings(const std::vector<std::vector<Finding>>& of_ranks, const Hosts& hosts);

/// The same of the ranks' own findings; the same on every rank. Collective.
std::vector<Finding> findings_of_ranks(const std::vector<Finding>& mine, const Hosts& hosts, dist::Communicator& world);

}  // namespace ut::launcher
