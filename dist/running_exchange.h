#pragma once

#include <ATen/core/Tensor.h>

#include <memory>
#include <vector>

#include "dist/communicator.h"
#include "dist/route.h"
#include "dist/rows.h"
#include "dist/running_step.h"

namespace ut::dist {

/// What becomes of this rank's running rows after a step; numbers of the rows as they stood before it, ascending.
struct Compaction {
  at::Tensor still;    // [rows] int64: run on
  at::Tensor stopped;  // [rows] int64: have halted
  at::Tensor copied;   // [rows] int64: those of them that rows which run on will see
};

/// The exchange among rows that halt one after another. A row runs until, in some step, it halts: it is `stopped`, and
/// leaves. If rows of its sequence run on it is `copied`: in the next step, once, its final state is sent along with
/// their states. From then on the others keep its keys and values, and of those nothing more is sent. Every rank of the
/// group keeps the same books of who holds what, from the same flags, so that only flags and rows travel.
class RunningExchange {
 public:
  /// `all` lists every position of the group's sequences; held[rank] the numbers of the rows that a rank starts with,
  /// ascending. `balance`: running rows move between ranks when one has more than `balance` times the mean; 0: never.
  /// `group` must live as long as this and any graph made with it. `form`: how rows travel.
  RunningExchange(Rows all, std::vector<RowNumbers> held, Communicator& group, ExchangeForm form, double balance);

  /// The step that is next.
  const std::shared_ptr<const RunningStep>& step() const { return step_; }

  /// Begins to tell the group which local rows run on: `running` [local rows] bool.
  void start_compaction(const at::Tensor& running);
  /// Ends it: the stopped rows leave, and the next step is that of what runs on. Collective.
  Compaction finish_compaction();
  /// Whether any row of the group runs.
  bool any() const;

  /// What stood with the rows that run on [still rows, ...], where they are now [local rows, ...]. Collective.
  at::Tensor move(const at::Tensor& rows) const;
  bool has_moved() const { return has_moved_; }
  /// What stood with the rows that halted on this rank [halted rows, ...], in the order in which they did, as rows that
  /// this rank started with. When no row runs any more. Collective, where rows have ever moved.
  at::Tensor home(const at::Tensor& halted) const;

 private:
  /// Rows that go to live on other ranks.
  struct Move {
    Route route;
    at::Tensor to_send;  // [rows] int64: route.to_send
    at::Tensor order;    // [rows] int64: of the arriving rows, so that their numbers ascend
  };

  /// For rows, where they are.
  at::Tensor index_of(const RowNumbers& numbers) const;
  Communicator& group() const { return group_->communicator; }
  std::size_t rank() const { return static_cast<std::size_t>(group().rank()); }
  Move make_move(const std::vector<RowNumbers>& from, const std::vector<RowNumbers>& to) const;
  std::vector<RowNumbers> stop_rows(const at::Tensor& runs_on, HeldRows& held);
  at::Tensor travel(const at::Tensor& rows, const Move& move) const;

  std::shared_ptr<RunningGroup> group_;
  double balance_;
  std::vector<RowNumbers> home_;    // [ranks]: as they started
  std::vector<RowNumbers> halted_;  // [ranks]: in the order in which they halted there
  bool has_moved_ = false;
  bool has_ever_moved_ = false;  // on any rank
  Move last_move_;
  Arriving flags_;
  std::shared_ptr<const RunningStep> step_;
};

}  // namespace ut::dist
