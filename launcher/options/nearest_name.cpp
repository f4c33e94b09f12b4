#include "launcher/options/nearest_name.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace ut::launcher {
namespace {

/// Number of single-letter insertions, removals and replacements between two words.
std::size_t edit_distance(const std::string& a, const std::string& b) {
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replaced = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({replaced, row[j] + 1, row[j - 1] + 1});
    }
  }
  return row[b.size()];
}

}  // namespace

std::string suggestion(const std::string& given, const std::vector<std::string>& names, const std::string& prefix) {
  std::string nearest;
  std::pair smallest(std::max<std::size_t>(2, given.size() / 3) + 1, given.size());
  for (const auto& name : names) {
    const auto same = static_cast<std::size_t>(std::ranges::mismatch(given, name).in1 - given.begin());
    // Among equally near names, the one with the longest common beginning.
    const std::pair distance(edit_distance(given, name), given.size() - same);
    if (distance < smallest) {
      smallest = distance;
      nearest = name;
    }
  }
  return nearest.empty() ? "" : fmt::format("; did you mean {}{}?", prefix, nearest);
}

}  // namespace ut::launcher
