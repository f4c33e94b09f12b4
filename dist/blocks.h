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
struct Block {
  int rank;
  at::Tensor rows;  // [rows of that rank, c]
};

/// The rows of one rank after another, this rank's own first: work on those that are there goes on while the next come.
/// Differentiable; for their backward pass, which is collective, every block must have a part in the result on every
/// rank: see tie().
class ArrivingBlocks {
 public:
  virtual ~ArrivingBlocks() = default;
  /// Waits for the next; nothing after the last.
  virtual std::optional<Block> next() = 0;
};

/// Begins to exchange `rows` [counts[rank], c] as `form` says, broadcast or ring. Collective, as is every next().
/// `group` must live as long as the graph.
std::unique_ptr<ArrivingBlocks> start_blocks(const at::Tensor& rows, std::vector<std::int64_t> counts,
                                             ExchangeForm form, Communicator& group);

/// Every rank's rows, one rank's after the other's, sent as `form` says (heads: all at once). `rows` [counts[rank], c]
/// -> [sum(counts), c].
at::Tensor gather_rows(const at::Tensor& rows, const std::vector<std::int64_t>& counts, ExchangeForm form,
                       Communicator& group);

}  // namespace ut::dist
