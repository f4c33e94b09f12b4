#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace ut::dist {

/// Numbers of rows, counted over all of a group's sequences.
using RowNumbers = std::vector<std::int64_t>;

/// The places at which the numbers stand, in ascending order of the numbers.
std::vector<std::int64_t> argsort(const RowNumbers& numbers);

/// How rows get from the ranks that have them to those that need them, as one of these ranks sees it.
struct Route {
  std::vector<std::int64_t> to_send;   // places among this rank's rows, grouped by the rank they go to
  std::vector<std::int64_t> sent;      // [ranks]: how many rows go to each
  std::vector<std::int64_t> received;  // [ranks]: how many rows come from each
  RowNumbers arriving;                 // numbers of the rows that come, in the order in which they come
};

/// The route of rank `rank`. has[r]: the rows of rank r, in the order in which it holds them; needs[r]: the rows that
/// it needs. `has` and `needs` must be the same on every rank. No two ranks have the same row; a row that nobody has
/// does not travel. Numbers are below `rows`.
Route make_route(std::size_t rank, std::int64_t rows, const std::vector<RowNumbers>& has,
                 const std::vector<RowNumbers>& needs);

/// The rows from `before` positions back to `after` positions on of any of `rows`, in the same sequence, without `rows`
/// themselves. All numbers ascend. `offsets` [sequences + 1]: the first row of each sequence.
RowNumbers rows_beside(const RowNumbers& rows, std::span<const std::int64_t> offsets, std::int64_t before,
                       std::int64_t after);

}  // namespace ut::dist
