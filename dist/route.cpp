#include "dist/route.h"

#include <algorithm>
#include <iterator>
#include <numeric>

namespace ut::dist {

std::vector<std::int64_t> argsort(const RowNumbers& numbers) {
  std::vector<std::int64_t> places(numbers.size());
  std::iota(places.begin(), places.end(), 0);
  std::ranges::sort(places, {}, [&](std::int64_t place) { return numbers[static_cast<std::size_t>(place)]; });
  return places;
}

Route make_route(std::size_t rank, std::int64_t rows, const std::vector<RowNumbers>& has,
                 const std::vector<RowNumbers>& needs) {
  const std::size_t ranks = has.size();
  std::vector<std::size_t> holder(static_cast<std::size_t>(rows), ranks);  // `ranks`: nobody
  std::vector<std::int64_t> place(static_cast<std::size_t>(rows));         // among the holder's
  for (std::size_t r = 0; r < ranks; ++r)
    for (std::size_t index = 0; index < has[r].size(); ++index) {
      const auto row = static_cast<std::size_t>(has[r][index]);
      holder[row] = r;
      place[row] = static_cast<std::int64_t>(index);
    }
  Route route;
  for (const RowNumbers& needed : needs) {
    const auto before = std::ssize(route.to_send);
    for (const std::int64_t row : needed)
      if (holder[static_cast<std::size_t>(row)] == rank) route.to_send.push_back(place[static_cast<std::size_t>(row)]);
    route.sent.push_back(std::ssize(route.to_send) - before);
  }
  std::vector<RowNumbers> from(ranks + 1);
  for (const std::int64_t row : needs[rank]) from[holder[static_cast<std::size_t>(row)]].push_back(row);
  for (std::size_t r = 0; r < ranks; ++r) {
    route.received.push_back(std::ssize(from[r]));
    route.arriving.insert(route.arriving.end(), from[r].begin(), from[r].end());
  }
  return route;
}

RowNumbers rows_beside(const RowNumbers& rows, std::span<const std::int64_t> offsets, std::int64_t before,
                       std::int64_t after) {
  RowNumbers beside;
  std::size_t sequence = 0;
  auto own = rows.begin();
  std::int64_t next = 0;  // the first row not yet looked at
  for (const std::int64_t row : rows) {
    while (row >= offsets[sequence + 1]) ++sequence;
    const std::int64_t end = std::min(offsets[sequence + 1], row + after + 1);
    for (next = std::max({next, offsets[sequence], row - before}); next < end; ++next) {
      own = std::find_if(own, rows.end(), [next](std::int64_t other) { return other >= next; });
      if (own == rows.end() || *own != next) beside.push_back(next);
    }
  }
  return beside;
}

}  // namespace ut::dist
