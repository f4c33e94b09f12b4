#include "dist/balanced_rows.h"

#include <algorithm>
#include <cstdint>
#include <iterator>

#include "base/span.h"

namespace ut::dist {

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
  const auto quota = [&](std::size_t r) {
    const base::Span part = base::share(rows, static_cast<int>(r), static_cast<int>(ranks));
    return static_cast<std::size_t>(part.end - part.begin);
  };
  std::vector<RowNumbers> result = held;
  RowNumbers spare;
  for (std::size_t r = 0; r < result.size(); ++r)
    for (; result[r].size() > quota(r); result[r].pop_back()) spare.push_back(result[r].back());
  for (std::size_t r = 0; r < result.size(); ++r) {
    for (; result[r].size() < quota(r); spare.pop_back()) result[r].push_back(spare.back());
    std::ranges::sort(result[r]);
  }
  return result;
}

}  // namespace ut::dist
