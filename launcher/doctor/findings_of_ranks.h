#pragma once

#include <vector>

#include "launcher/doctor/findings.h"

namespace ut::launcher {

/// `of_ranks` [ranks]: what each rank found on its own host. Returns all that rank 0 found, then the faults that only
/// other ranks found. A fault of other hosts is there once, with its hosts in front.
std::vector<Finding> merge_findings(const std::vector<std::vector<Finding>>& of_ranks, const Hosts& hosts);

/// The same for the ranks' own findings, with the same result on every rank. Collective.
std::vector<Finding> findings_of_ranks(const std::vector<Finding>& mine, const Hosts& hosts, dist::Communicator& world);

}  // namespace ut::launcher
