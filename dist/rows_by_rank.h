#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "dist/communicator.h"
#include "dist/exchange_options.h"

namespace ut::dist {

/// The rows that one rank of a group sends.
struct RankRows {
  int rank;
  at::Tensor rows;  // [rows of that rank, c]
};

/// The rows of one rank after another, this rank's own first. Work on rows that are there goes on while the next ones
/// come and, in the backward pass, while gradients of later ones go back. Differentiable. The backward pass is
/// collective, so every rank's rows must have a part in the graph of the result on every rank.
class RowsByRank {
 public:
  virtual ~RowsByRank() = default;
  /// Waits for the next rank's rows. Returns nothing after the last; it must be called until then.
  virtual std::optional<RankRows> next() = 0;
};

/// Starts to exchange `rows` [counts[rank], c] as `form` says: broadcast or ring. Collective, as is every next().
/// `group` must live as long as the graph.
std::unique_ptr<RowsByRank> start_rows_by_rank(const at::Tensor& rows, std::vector<std::int64_t> counts,
                                               ExchangeForm form, Communicator& group);

}  // namespace ut::dist
