#include "launcher/collective_cost.h"

#include <algorithm>
#include <cmath>

namespace ut::launcher {
namespace {

/// What is left of a transfer over which work goes on. The last block's part of it is waited for in any case.
double exposed(double transfer, double work, double ranks) {
  return std::max(transfer - work * (ranks - 1) / ranks, transfer / ranks);
}

/// The share of blocks that the busiest rank works on where those that no query of a rank sees are left out: cut
/// contiguously, the rank with the last positions sees all.
double causal_share(const Layout& layout, double ranks) {
  return layout.cut == SequenceCut::zigzag ? (ranks + 1) / (2 * ranks) : 1;
}

}  // namespace

CollectiveCost::CollectiveCost(const MachineNumbers& machine, std::int64_t ranks, std::int64_t ranks_per_node)
    : machine_(machine),
      ranks_(static_cast<double>(ranks)),
      within_(static_cast<double>(std::min(ranks, ranks_per_node))),
      nodes_(std::ceil(ranks_ / within_)) {}

double CollectiveCost::round_seconds() const { return nodes_ > 1 ? machine_.between.latency : machine_.within.latency; }

double CollectiveCost::rounds_seconds() const {
  return std::ceil(std::log2(within_)) * machine_.within.latency +
         std::ceil(std::log2(nodes_)) * machine_.between.latency;
}

double CollectiveCost::slowest_rate(double bytes, bool reduces) const {
  const auto rate = [&](const Link& link) { return rate_at(reduces ? link.reduce : link.gather, bytes); };
  if (nodes_ == 1) return rate(machine_.within);
  return within_ == 1 ? rate(machine_.between) : std::min(rate(machine_.within), rate(machine_.between));
}

double CollectiveCost::gather_seconds(double bytes) const {
  const double received = bytes * (ranks_ - 1) / ranks_;
  return received == 0 ? 0 : rounds_seconds() + received / slowest_rate(received, false);
}

double CollectiveCost::reduce_scatter_seconds(double bytes) const {
  const double received = bytes * (ranks_ - 1) / ranks_;
  return received == 0 ? 0 : rounds_seconds() + received / slowest_rate(received, true);
}

double CollectiveCost::all_reduce_seconds(double bytes) const {
  const auto part = [bytes](double ranks, const Link& link) {
    if (ranks == 1) return 0.0;
    const double received = 2 * bytes * (ranks - 1) / ranks;
    return 2 * std::ceil(std::log2(ranks)) * link.latency + received / rate_at(link.reduce, received);
  };
  return part(within_, machine_.within) + part(nodes_, machine_.between);
}

double CollectiveCost::all_to_all_seconds(double bytes) const {
  const double received = bytes * (ranks_ - 1);
  return received == 0 ? 0 : rounds_seconds() + received / slowest_rate(received, false);
}

ExchangeCost exchange_cost(const Layout& layout, const CollectiveCost& group, double state_bytes,
                           double attention_seconds, bool causal, double overlap) {
  const double ranks = group.ranks();
  const double bytes = state_bytes * (layout.content == ExchangeContent::states ? 1 : 2);
  const double forward = group.gather_seconds(bytes);
  const double backward = group.reduce_scatter_seconds(bytes);
  const double received = bytes * (ranks - 1) / ranks;  // by each rank; as much is sent
  ExchangeCost cost;
  cost.sent_bytes_of_rank = 2 * received;
  const bool in_blocks = layout.form == ExchangeForm::broadcast || layout.form == ExchangeForm::ring;
  if (in_blocks && causal) cost.attention_factor = causal_share(layout, ranks);
  const double hiding = overlap * attention_seconds * cost.attention_factor;
  constexpr double operations_of_block = 30;
  if (in_blocks) cost.operations = operations_of_block * (ranks - 1);
  switch (layout.form) {
    case ExchangeForm::all_gather:
      cost.exposed_seconds = forward + backward;
      break;
    case ExchangeForm::broadcast: {  // one collective for each rank's rows
      const double rounds = ranks * group.round_seconds();
      cost.exposed_seconds =
          exposed(forward + rounds, hiding / 3, ranks) + exposed(backward + rounds, hiding * 2 / 3, ranks);
      break;
    }
    case ExchangeForm::ring: {  // on the way back keys and values go round once more, and gradients with them
      const double rounds = (ranks - 1) * group.round_seconds();
      cost.sent_bytes_of_rank = 3 * received;
      cost.exposed_seconds =
          exposed(forward + rounds, hiding / 3, ranks) + exposed(2 * forward + rounds, hiding * 2 / 3, ranks);
      cost.attention_factor *= 4.0 / 3;  // weights are made again on the way back
      break;
    }
    case ExchangeForm::heads: {  // queries, keys and values there, results back; and the same on the way back
      const double to_each = state_bytes / (ranks * ranks);
      cost.exposed_seconds = 2 * (group.all_to_all_seconds(3 * to_each) + group.all_to_all_seconds(to_each));
      cost.sent_bytes_of_rank = 2 * 4 * to_each * (ranks - 1);
      break;
    }
  }
  return cost;
}

}  // namespace ut::launcher
