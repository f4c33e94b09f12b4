#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "dist/communicator.h"
#include "dist/route.h"
#include "dist/rows.h"
#include "dist/running_neighbours.h"

namespace ut::dist {

/// Running rows in the order of sequence and position, and what they may attend to.
struct RunningRowSet {
  Rows rows;                // sequences without any are left out
  RowNumbers sequences;     // their numbers in the exchange
  Rows seen;                // all positions of those sequences, halted ones included
  RowNumbers seen_numbers;  // [seen rows]: their numbers in the exchange
};

/// The running rows of all ranks of a group.
struct RunningOfAll : RunningRowSet {
  std::vector<std::int64_t> counts;  // [ranks]: running rows of each
  at::Tensor order;                  // [rows] int64: the place of each when the ranks' rows follow one another
};

/// What all steps of an exchange among running rows share.
struct RunningGroup {
  RunningGroup(Rows all, Communicator& communicator, ExchangeForm form);

  std::int64_t sequence_of(std::int64_t row) const { return sequence_of_row[static_cast<std::size_t>(row)]; }

  Rows all;                                   // every position of the group's sequences
  std::vector<std::int64_t> sequence_of_row;  // [all rows]: counted from 0
  Communicator& communicator;
  ExchangeForm form;  // how rows travel
  RunningNeighbours neighbours;
};

/// The rows that run in one step, and how they cross the cut. It does not change when other rows run in the next step,
/// so that the backward pass can make the step again.
class RunningStep {
 public:
  RunningStep(std::shared_ptr<RunningGroup> group, HeldRows held);

  Communicator& group() const { return group_->communicator; }
  ExchangeForm form() const { return group_->form; }
  const HeldRows& held() const { return held_; }

  /// This rank's running rows.
  const RunningRowSet& local() const { return local_; }
  /// [local rows]: each row's sequence, counted in the exchange.
  const std::vector<std::int64_t>& sequence_index() const { return sequence_index_; }
  std::int64_t sequences() const { return group_->all.sequences(); }
  /// [ranks]: how many rows each sends, running and just halted.
  const std::vector<std::int64_t>& sent_counts() const { return counts_; }
  RunningOfAll running_of_all() const;

  /// Starts to gather `rows` [local rows, then those just halted, c]. The result, called once, waits for what all ranks
  /// sent [sent rows, c]. Collective.
  PendingTensor start_gather(const at::Tensor& rows) const;
  /// [sent rows] int64: their numbers in the exchange, in the order in which start_gather() brings them.
  at::Tensor numbers_of_sent() const;
  /// For a convolution over positions: `rows` [local rows, then those just halted, c] -> these and all rows that the
  /// local ones see from `before` positions back to `after` positions on, by their numbers in the exchange. `store`
  /// must be the same for these rows in all steps. Call it for the steps in their order; after that, any step can be
  /// repeated. Throws std::logic_error if `before` or `after` differ from the step's first call. Collective.
  KnownRows neighbours(const at::Tensor& rows, const std::shared_ptr<RowStore>& store, std::int64_t before,
                       std::int64_t after) const;

 private:
  /// The rows with these numbers, which ascend.
  RunningRowSet set_of(const RowNumbers& numbers) const;

  std::shared_ptr<RunningGroup> group_;
  HeldRows held_;
  std::vector<std::int64_t> counts_;
  RunningRowSet local_;
  std::vector<std::int64_t> sequence_index_;
  mutable std::optional<RunningNeighbours::Step> beside_;  // made when it is first asked for
};

}  // namespace ut::dist
