#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

#include "dist/communicator.h"
#include "dist/route.h"
#include "dist/rows.h"
#include "dist/running_neighbours.h"

namespace ut::dist {

/// What becomes of this rank's running rows after a step; numbers of the rows as they stood before it, ascending.
struct Parting {
  at::Tensor still;    // [rows] int64: run on
  at::Tensor stopped;  // [rows] int64: have halted
  at::Tensor copied;   // [rows] int64: those of them that rows which run on will see
};

/// The running rows of all ranks of a group, in the order of sequence and position.
struct RunningOfAll {
  std::vector<std::int64_t> counts;  // [ranks]
  Rows rows;
  Rows seen;                           // all positions of their sequences
  at::Tensor order;                    // [rows] int64: where each stands when every rank's rows follow one another
  std::vector<std::int64_t> sequence;  // [sequences of `rows`]: their numbers in the exchange
};

/// The exchange among rows that halt one after another. Halted rows leave; what others still see of them is sent once
/// more and kept. Every rank of the group keeps the same books of who holds what, so that only flags and rows travel.
class RunningExchange {
 public:
  /// `all` lists every position of the group's sequences; held[rank] the numbers of the rows that a rank starts with,
  /// ascending. `balance`: running rows move between ranks when one has more than `balance` times the mean; 0: never.
  /// `group` must live as long as this and any graph made with it. `form`: how rows travel.
  RunningExchange(Rows all, std::vector<RowNumbers> held, Communicator& group, ExchangeForm form, double balance);

  Communicator& group() const { return group_; }
  ExchangeForm form() const { return form_; }

  /// The rows that run on this rank, of those sequences only of which it has any.
  const Rows& local() const { return local_; }
  /// All positions of those sequences, halted ones included.
  const Rows& seen() const { return seen_; }
  /// [local rows]: each row's sequence, counted in `all`.
  const std::vector<std::int64_t>& sequence_index() const { return sequence_index_; }
  std::int64_t sequences() const { return all_.sequences(); }
  /// [ranks]: the rows that each has to send now, running and copied.
  const std::vector<std::int64_t>& sent_counts() const { return counts_; }
  RunningOfAll running_of_all() const;

  /// `rows` [local rows, then those last copied, c] -> what all ranks sent [sent rows, c]: begun, and waited for when
  /// the result is called, once. Collective.
  Arriving start_gather(const at::Tensor& rows) const;
  /// For a convolution over positions, see RunningNeighbours: `rows` [local rows, then those last copied, c] -> these
  /// and all that the local ones see. Collective.
  KnownRows neighbours(const at::Tensor& rows, KeptRows& kept, std::int64_t before, std::int64_t after) {
    return neighbours_.bring(rows, kept, held_, seen_numbers_, before, after);
  }
  /// [sent rows] int64: their numbers in `all`, in the order in which start_gather() brings them.
  at::Tensor numbers_of_sent() const;
  /// The sum of `values` over the group.
  at::Tensor sum(const at::Tensor& values) const;

  /// Begins to tell the group which local rows run on: `running` [local rows] bool.
  void start_parting(const at::Tensor& running);
  /// Ends it: the stopped rows leave, and local() is what runs on. Collective.
  Parting part();
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
  std::size_t rank() const { return static_cast<std::size_t>(group_.rank()); }
  Move make_move(const std::vector<RowNumbers>& from, const std::vector<RowNumbers>& to) const;
  std::vector<RowNumbers> stop_rows(const at::Tensor& runs_on);
  at::Tensor travel(const at::Tensor& rows, const Move& move) const;
  void count_rows_to_send();
  void find_local_rows();

  Rows all_;
  std::vector<std::int64_t> sequence_of_row_;  // [all rows]
  Communicator& group_;
  ExchangeForm form_;
  double balance_;
  std::vector<RowNumbers> home_;    // [ranks]: as they started
  HeldRows held_;                   // now
  std::vector<RowNumbers> halted_;  // [ranks]: in the order in which they halted there
  RunningNeighbours neighbours_;
  bool has_moved_ = false;
  bool has_ever_moved_ = false;  // on any rank
  Move last_move_;
  Arriving flags_;

  std::vector<std::int64_t> counts_;  // [ranks]: rows that each sends
  Rows local_;
  Rows seen_;
  RowNumbers seen_numbers_;
  std::vector<std::int64_t> sequence_index_;
};

}  // namespace ut::dist
