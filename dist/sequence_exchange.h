#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <memory>

#include "dist/communicator.h"
#include "dist/rows.h"

namespace ut::dist {

/// How the ranks that share sequences tell one another their positions' representations. Made for one batch; every
/// rank of the group calls the same functions in the same order. Differentiable: a backward pass runs the matching
/// collectives in reverse.
class SequenceExchange {
 public:
  virtual ~SequenceExchange() = default;

  /// The rows that this rank holds: its queries.
  virtual const Rows& local() const = 0;
  /// The rows that gather() returns: every position of these sequences, for keys and values.
  virtual const Rows& all() const = 0;

  /// `rows` [local rows, c] -> [all rows, c].
  virtual at::Tensor gather(const at::Tensor& rows) const = 0;

  /// For a convolution over positions: for each local row its neighbours `before` positions earlier to `after`
  /// positions later in its sequence, itself included; zeros beyond the sequence's ends.
  /// `rows` [local rows, c] -> [local rows, before + 1 + after, c].
  virtual at::Tensor neighbours(const at::Tensor& rows, std::int64_t before, std::int64_t after) const = 0;
};

/// Exchange by all-gather over `group`; on a group of one rank nothing moves. Positions are cut by share().
/// `group` must live as long as the exchange and any graph made with it.
std::shared_ptr<const SequenceExchange> make_all_gather_exchange(const Sequences& sequences, Communicator& group);

}  // namespace ut::dist
