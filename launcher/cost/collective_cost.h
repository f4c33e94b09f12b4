#pragma once

#include <cstdint>

#include "launcher/cost/cost_model.h"
#include "launcher/cost/machine_numbers.h"

namespace ut::launcher {

/// Seconds of collectives of a group of neighbouring ranks. Where it spans nodes, its ring crosses from each node to
/// the next once.
class CollectiveCost {
 public:
  CollectiveCost(const MachineNumbers& machine, std::int64_t ranks, std::int64_t ranks_per_node);

  double ranks() const { return ranks_; }
  /// Of a message that takes no time, from any rank to the next.
  double round_seconds() const;
  /// `bytes` is what every rank has in the end.
  double gather_seconds(double bytes) const;
  /// `bytes` is what every rank has at first.
  double reduce_scatter_seconds(double bytes) const;
  /// Within nodes first, then between them, and back.
  double all_reduce_seconds(double bytes) const;
  /// Each rank sends `bytes` to each other rank, all together.
  double all_to_all_seconds(double bytes) const;

 private:
  double rounds_seconds() const;
  double slowest_rate(double bytes, bool reduces) const;

  const MachineNumbers& machine_;
  double ranks_;
  double within_;  // ranks of a node
  double nodes_;
};

/// The attention that an exchange is for.
struct AttentionOfLayer {
  double seconds;  // over all keys at once, forward and backward
  bool stored;     // keys and values are all there before it begins: rows halt
  bool causal;
};

/// What a form of exchange costs in one layer of one step, forward and backward.
struct ExchangeCost {
  double exposed_seconds = 0;   // not hidden behind attention
  double attention_factor = 1;  // of attention's time, where its shape is another or blocks are left out
  double operations = 0;        // more than all-gather has
  double sent_bytes_of_rank = 0;
};

/// `state_bytes`: of the states of all rows that the group exchanges; `heads`: of attention; `overlap`: the share of
/// work that hides a transfer.
ExchangeCost exchange_cost(const Layout& layout, const CollectiveCost& group, double state_bytes, std::int64_t heads,
                           const AttentionOfLayer& attention, double overlap);

}  // namespace ut::launcher
