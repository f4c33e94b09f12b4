#include <fmt/format.h>

#include <algorithm>

#include "launcher/commands.h"
#include "launcher/doctor/findings_of_ranks.h"
#include "launcher/process/say.h"

namespace ut::launcher {

int doctor(Session& session) {
  dist::Communicator& world = session.mesh.world();
  const Hosts hosts = find_hosts(world);
  std::vector<Finding> here = {find_mpi(), find_products(), find_accelerators(world)};
  for (Finding& link : find_links(hosts, world)) here.push_back(std::move(link));
  std::vector<Finding> findings = findings_of_ranks(here, hosts, world);
  findings.insert(findings.begin(), find_ranks(hosts));
  findings.push_back(find_cores(hosts, world));
  findings.push_back(find_directory(session.options.run_dir, world));
  const bool is_well = std::ranges::all_of(findings, &Finding::is_well);
  if (!session.speaks()) return is_well ? 0 : 1;
  for (const Finding& finding : findings) {
    print(fmt::format("{:<6} {:<10} {}\n", finding.is_well() ? "ok" : "fault", finding.subject, finding.seen));
    if (!finding.is_well()) print(fmt::format("{:<17} remedy: {}\n", "", finding.remedy));
  }
  return is_well ? 0 : 1;
}

}  // namespace ut::launcher
