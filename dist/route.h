#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace ut::dist {

/// Numbers of rows among all of a group's sequences.
using RowNumbers = std::vector<std::int64_t>;

/// The places of these numbers, in the numbers' order.
std::vector<std::int64_t> places_in_order(const RowNumbers& numbers);

/// How rows get from the ranks that have them to those that need them, as one of these ranks sees it.
struct Route {
  std::vector<std::int64_t> to_send;   // places among the rows that this rank has, grouped by the rank they go to
  std::vector<std::int64_t> sent;      // [ranks]
  std::vector<std::int64_t> received;  // [ranks]
  RowNumbers arriving;                 // in the order in which they come
};

/// The route of `rank` where has[r], in the order in which rank r holds them, and needs[r] are the same books on every
/// rank. Nobody has a row that another has; one that nobody has does not travel. Numbers are below `rows`.
Route make_route(std::size_t rank, std::int64_t rows, const std::vector<RowNumbers>& has,
                 const std::vector<RowNumbers>& needs);

/// The rows that `rows` see, `before` positions back to `after` positions on in their sequences, but for themselves.
/// All numbers ascend. `offsets` [sequences + 1]: the first row of each sequence.
RowNumbers rows_beside(const RowNumbers& rows, std::span<const std::int64_t> offsets, std::int64_t before,
                       std::int64_t after);

}  // namespace ut::dist
