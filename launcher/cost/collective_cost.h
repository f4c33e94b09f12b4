#pragma once

#include <cstdint>

#include "launcher/cost/cost_model.h"
#include "launcher/cost/machine_numbers.h"

namespace ut::launcher {

/// Predicts the seconds of collectives in a group of neighbouring ranks. If the group spans nodes, its ring crosses
/// once from each node to the next.
class CollectiveCost {
 public:
  CollectiveCost(const MachineNumbers& machine, std::int64_t ranks, std::int64_t ranks_per_node);

  double ranks() const { return ranks_; }
  /// Seconds of a message without bytes, from any rank to the next.
  double round_seconds() const;
  /// `bytes` is what every rank has in the end.
  double gather_seconds(double bytes) const;
  /// `bytes` is what every rank has at first.
  double reduce_scatter_seconds(double bytes) const;
  /// Within nodes first, then between them, and back.
  double all_reduce_seconds(double bytes) const;
  /// Each rank sends `bytes` to each other rank, all at the same time.
  double all_to_all_seconds(double bytes) const;

 private:
  double rounds_seconds() const;
  double slowest_rate(double bytes, bool reduces) const;

  const MachineNumbers& machine_;
  double ranks_;
  double nodes_;
  double within_;  // ranks of a node
};

/// The attention that an exchange is for.
struct AttentionOfLayer {
  double seconds;  // over all keys at once, forward and backward
  bool stored;     // rows halt, so all keys and values are there before it begins
  bool causal;
};

/// What a form of exchange costs in one layer of one step, forward and backward.
struct ExchangeCost {
  double exposed_seconds = 0;   // not hidden behind attention
  double attention_factor = 1;  // on attention's time, if its shape changes or blocks are left out
  double operations = 0;        // beyond those of all-gather
  double sent_bytes_of_rank = 0;
};

/// `state_bytes`: bytes of the states of all rows that the group exchanges. `heads`: of attention. `overlap`: the share
/// of work that hides a transfer.
ExchangeCost exchange_cost(const Layout& layout, const CollectiveCost& group, double state_bytes, std::int64_t heads,
                           const AttentionOfLayer& attention, double overlap);

}  // namespace ut::launcher
