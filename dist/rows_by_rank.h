#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "dist/communicator.h"
#include "dist/exchange_options.h"

namespace ut::dist {

/// One rank's rows, of those that all ranks of a group send.
struct RankRows {
  int rank;
  at::Tensor rows;  // [rows of that rank, c]
};

/// The rows of one rank after another, this rank's own first: work on those that are there goes on while the next come,
/// and while gradients of those that came later go back. Differentiable; for their backward pass, which is collective,
/// the rows of each must have a part in the result on every rank: see tie().
class RowsByRank {
 public:
  virtual ~RowsByRank() = default;
  /// Waits for the next; after the last, once, nothing: to be called until then.
  virtual std::optional<RankRows> next() = 0;
};

/// Begins to exchange `rows` [counts[rank], c] as `form` says, broadcast or ring. Collective, as is every next().
/// `group` must live as long as the graph.
std::unique_ptr<RowsByRank> start_rows_by_rank(const at::Tensor& rows, std::vector<std::int64_t> counts,
                                               ExchangeForm form, Communicator& group);

}  // namespace ut::dist
