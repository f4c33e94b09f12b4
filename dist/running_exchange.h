#pragma once

#include <ATen/core/Tensor.h>

#include <memory>
#include <vector>

#include "dist/communicator.h"
#include "dist/route.h"
#include "dist/rows.h"
#include "dist/running_step.h"

namespace ut::dist {

/// What becomes of this rank's running rows after a step, as places among the rows that ran in it, ascending.
struct Compaction {
  at::Tensor still;    // [rows] int64: they run on
  at::Tensor stopped;  // [rows] int64: they have halted
  at::Tensor copied;   // [rows] int64: the stopped ones that rows which run on will see
};

/// The exchange among rows that halt one after another. A row runs until, in some step, it halts: it is then `stopped`
/// and leaves. If other rows of its sequence run on, it is also `copied`: in the next step its final state is sent
/// once, along with the running rows' states. From then on the others keep its keys and values, and it is not sent
/// again. Every rank of the group keeps the same books of who holds what, from the same flags, so that only flags and
/// rows travel.
class RunningExchange {
 public:
  /// `all` lists every position of the group's sequences. held[rank]: the numbers of the rows that a rank starts with,
  /// ascending. `balance`: running rows move between ranks when one has more than `balance` times the mean; 0: never.
  /// `form`: how rows travel. `group` must live as long as this and any graph made with it.
  RunningExchange(Rows all, std::vector<RowNumbers> held, Communicator& group, ExchangeForm form, double balance);

  /// The next step.
  const std::shared_ptr<const RunningStep>& step() const { return step_; }

  /// Starts to tell the group which local rows run on: `running` [local rows] bool.
  void start_compaction(const at::Tensor& running);
  /// Ends what start_compaction() began: the stopped rows leave, and step() is that of the rows that run on.
  /// Collective.
  Compaction finish_compaction();
  /// Whether any row of the group runs.
  bool any() const;

  /// Takes data of the rows that run on [still rows, ...] to where those rows are now [local rows, ...]. Collective.
  at::Tensor move(const at::Tensor& rows) const;
  /// Whether rows of any rank moved to another when the last compaction ended.
  bool has_moved() const { return has_moved_; }
  /// Takes data of the rows that halted on this rank [halted rows, ...], in the order in which they halted, back to the
  /// rows that this rank started with. For use when no row runs any more. Collective if rows have ever moved.
  at::Tensor home(const at::Tensor& halted) const;

 private:
  /// A move of rows to other ranks.
  struct Move {
    Route route;
    at::Tensor to_send;  // [rows] int64: route.to_send
    at::Tensor order;    // [rows] int64: of the arriving rows, in which their numbers ascend
  };

  /// The numbers as an index, on the rows' device.
  at::Tensor index_of(const RowNumbers& numbers) const;
  Communicator& group() const { return group_->communicator; }
  std::size_t rank() const { return static_cast<std::size_t>(group().rank()); }
  Move make_move(const std::vector<RowNumbers>& from, const std::vector<RowNumbers>& to) const;
  std::vector<RowNumbers> stop_rows(const at::Tensor& runs_on, HeldRows& held);
  at::Tensor travel(const at::Tensor& rows, const Move& move) const;

  std::shared_ptr<RunningGroup> group_;
  double balance_;
  std::vector<RowNumbers> home_;    // [ranks]: the rows that each started with
  std::vector<RowNumbers> halted_;  // [ranks]: the rows that halted there, in that order
  bool has_moved_ = false;
  bool has_ever_moved_ = false;  // on any rank
  Move last_move_;
  PendingTensor flags_;
  std::shared_ptr<const RunningStep> step_;
};

}  // namespace ut::dist
