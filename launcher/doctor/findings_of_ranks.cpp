#include "launcher/doctor/findings_of_ranks.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/json.h"
#include "launcher/ranks/shared_values.h"

namespace ut::launcher {
namespace {

using nlohmann::json;

std::string text_of(const std::vector<Finding>& findings) {
  json list = json::array();
  for (const Finding& finding : findings) list.push_back({finding.subject, finding.seen, finding.remedy});
  return base::json_line(list);
}

std::vector<Finding> findings_in(const std::string& text) {
  std::vector<Finding> findings;
  for (const json& finding : json::parse(text)) findings.push_back({finding[0], finding[1], finding[2]});
  return findings;
}

/// The names as "n1, n2"; of many only the first.
std::string some_of(std::vector<std::string> names) {
  constexpr std::size_t most = 4;
  const std::size_t more = names.size() - std::min(names.size(), most);
  names.resize(names.size() - more);
  return fmt::format("{}{}", fmt::join(names, ", "), more > 0 ? fmt::format(" and {} more", more) : "");
}

}  // namespace

std::vector<Finding> merge_findings(const std::vector<std::vector<Finding>>& of_ranks, const Hosts& hosts) {
  std::vector<Finding> merged = of_ranks.front();
  std::vector<std::vector<std::string>> found_on(merged.size(), {hosts.names.front()});
  for (std::size_t rank = 1; rank < of_ranks.size(); ++rank) {
    const std::string& host = hosts.names[hosts.of_rank[rank]];
    for (const Finding& finding : of_ranks[rank]) {
      if (finding.is_well()) continue;
      // The same fault may show other numbers on another rank.
      const auto same = std::ranges::find_if(merged, [&](const Finding& other) {
        return other.subject == finding.subject && other.remedy == finding.remedy;
      });
      const auto place = static_cast<std::size_t>(same - merged.begin());
      if (same == merged.end()) {
        merged.push_back(finding);
        found_on.push_back({host});
      } else if (std::ranges::count(found_on[place], host) == 0) {
        found_on[place].push_back(host);
      }
    }
  }
  for (std::size_t place = 0; place < merged.size(); ++place)
    if (place >= of_ranks.front().size() || found_on[place].size() > 1)
      merged[place].seen = fmt::format("{}: {}", some_of(found_on[place]), merged[place].seen);
  return merged;
}

std::vector<Finding> findings_of_ranks(const std::vector<Finding>& mine, const Hosts& hosts,
                                       dist::Communicator& world) {
  std::vector<std::vector<Finding>> of_ranks;
  for (const std::string& text : texts_of_ranks(text_of(mine), world)) of_ranks.push_back(findings_in(text));
  return merge_findings(of_ranks, hosts);
}

}  // namespace ut::launcher
