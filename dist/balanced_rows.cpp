#include "dist/balanced_rows.h"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <numeric>
#include <utility>

namespace ut::dist {
namespace {

/// [ranks]: how many rows each is to have. The remainder goes to the ranks that hold most, so that those rows need not
/// move.
std::vector<std::size_t> quotas(const std::vector<RowNumbers>& held, std::size_t rows) {
  std::vector<std::size_t> ranks(held.size());
  std::iota(ranks.begin(), ranks.end(), 0);
  std::ranges::sort(ranks, {}, [&](std::size_t rank) { return std::pair(-std::ssize(held[rank]), rank); });
  std::vector<std::size_t> quota(held.size(), rows / held.size());
  for (std::size_t over = 0; over < rows % held.size(); ++over) ++quota[ranks[over]];
  return quota;
}

}  // namespace

std::vector<RowNumbers> balanced(const std::vector<RowNumbers>& held, double balance) {
  const auto ranks = static_cast<std::int64_t>(held.size());
  std::int64_t rows = 0;
  std::int64_t most = 0;
  for (const RowNumbers& numbers : held) {
    rows += std::ssize(numbers);
    most = std::max<std::int64_t>(most, std::ssize(numbers));
  }
  const bool as_even_as_can_be = most * ranks < rows + ranks;
  if (balance == 0 || as_even_as_can_be || static_cast<double>(most * ranks) <= balance * static_cast<double>(rows))
    return {};
  const std::vector<std::size_t> quota = quotas(held, static_cast<std::size_t>(rows));
  std::vector<RowNumbers> result = held;
  RowNumbers spare;
  for (std::size_t r = 0; r < result.size(); ++r)
    for (; result[r].size() > quota[r]; result[r].pop_back()) spare.push_back(result[r].back());
  for (std::size_t r = 0; r < result.size(); ++r) {
    for (; result[r].size() < quota[r]; spare.pop_back()) result[r].push_back(spare.back());
    std::ranges::sort(result[r]);
  }
  return result;
}

}  // namespace ut::dist
