#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "dist/communicator.h"
#include "dist/rows.h"

namespace ut::dist {

class RunningExchange;

/// Who holds which rows of a group's sequences, and how they cross the cut.
struct Holdings {
  Sequences sequences;
  Communicator* group;
  ExchangeOptions options;
  std::vector<std::int64_t> counts;  // [ranks]: rows held
  at::Tensor order;                  // [all rows] int64: where each stands when every rank's rows follow one another
};

/// What each row of a convolution over positions looks at.
struct Neighbours {
  at::Tensor rows;      // [own rows, c]
  at::Tensor received;  // [received rows, c], from other ranks, also where they send none; undefined on one rank
  at::Tensor table;  // [rows, width] int64, on their device: numbers of own rows, then of received ones, one position
                     // further in each column; -1 beyond a sequence's ends
};

/// How the ranks that share sequences tell one another their positions' representations. Made for one batch; every
/// rank of the group calls the same functions in the same order. Differentiable: a backward pass runs the matching
/// collectives in reverse.
class SequenceExchange {
 public:
  virtual ~SequenceExchange() = default;

  /// The rows that this rank holds: its queries.
  virtual const Rows& local() const = 0;
  virtual const Holdings& holdings() const = 0;
  /// The rows that gather() returns: every position of these sequences, for keys and values.
  virtual const Rows& all() const = 0;

  /// `rows` [local rows, c] -> [all rows, c]: begun, and waited for when the result is called, once.
  virtual Arriving start_gather(const at::Tensor& rows) const = 0;
  at::Tensor gather(const at::Tensor& rows) const { return start_gather(rows)(); }

  /// For a convolution over positions: for each local row its neighbours `before` positions earlier to `after`
  /// positions later in its sequence, itself included. `rows` [local rows, c].
  virtual Neighbours neighbours(const at::Tensor& rows, std::int64_t before, std::int64_t after) const = 0;

  /// The sum of `values` over the ranks that share these sequences, the same bits on each.
  virtual at::Tensor sum(const at::Tensor& values) const = 0;
  /// Begins to ask whether any of these ranks says so; the answer comes when the result is called.
  virtual std::function<bool()> start_any(bool mine) const = 0;
  /// An exchange among the rows that have not halted, which are all of them to begin with. It may outlive this one.
  /// `balance` as RunningExchange takes it.
  virtual std::unique_ptr<RunningExchange> running(double balance) const = 0;
};

/// The exchange over `group` of sequences that are cut over its ranks as `options` say; on one rank nothing moves, and
/// the form is all-gather. `group` must live as long as the exchange and any graph made with it.
std::shared_ptr<const SequenceExchange> make_exchange(const Sequences& sequences, Communicator& group,
                                                      const ExchangeOptions& options = {});

}  // namespace ut::dist
