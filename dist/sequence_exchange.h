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

/// Which rank holds which rows of a group's sequences, and how they cross the cut.
struct Holdings {
  Sequences sequences;
  Communicator* group;
  ExchangeOptions options;
  std::vector<std::int64_t> counts;  // [ranks]: rows held
  at::Tensor order;                  // [all rows] int64: the place of each when the ranks' rows follow one another
};

/// The rows that a convolution over positions looks at.
struct Neighbours {
  at::Tensor rows;      // [own rows, c]
  at::Tensor received;  // [received rows, c], from other ranks; possibly none; undefined on one rank
  at::Tensor table;     // [rows, width] int64, on their device: places among the own, then the received rows, one
                        // position further in each column; -1 beyond a sequence's ends
};

/// How the ranks that share sequences tell one another their positions' representations. Made for one batch. Every rank
/// of the group calls the same functions in the same order. Differentiable: a backward pass runs the matching
/// collectives in reverse.
class SequenceExchange {
 public:
  virtual ~SequenceExchange() = default;

  /// The rows that this rank holds: its queries.
  virtual const Rows& local() const = 0;
  virtual const Holdings& holdings() const = 0;
  /// The rows that gather() returns: every position of these sequences, for keys and values.
  virtual const Rows& all() const = 0;

  /// Starts to gather `rows` [local rows, c]. The result, called once, waits for [all rows, c].
  virtual PendingTensor start_gather(const at::Tensor& rows) const = 0;
  at::Tensor gather(const at::Tensor& rows) const { return start_gather(rows)(); }

  /// For a convolution over positions: each local row's neighbours, from `before` positions earlier to `after`
  /// positions later in its sequence, itself included. `rows` [local rows, c].
  virtual Neighbours neighbours(const at::Tensor& rows, std::int64_t before, std::int64_t after) const = 0;

  /// Starts to ask whether `mine` is true on any of the ranks that share these sequences. The result, when called,
  /// gives the answer.
  virtual std::function<bool()> start_any(bool mine) const = 0;
  /// An exchange among the rows that have not halted, at first all of them. It may outlive this one. `balance`: see
  /// RunningExchange.
  virtual std::unique_ptr<RunningExchange> running(double balance) const = 0;
};

/// The exchange over `group` of sequences that are cut over its ranks as `options` say. On one rank nothing moves, and
/// the form is all-gather. `group` must live as long as the exchange and any graph made with it.
std::shared_ptr<const SequenceExchange> make_exchange(const Sequences& sequences, Communicator& group,
                                                      const ExchangeOptions& options = {});

}  // namespace ut::dist
