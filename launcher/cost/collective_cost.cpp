#include "launcher/cost/collective_cost.h"

#include <algorithm>
#include <cmath>

namespace ut::launcher {
namespace {

/// Whether attention works on one rank's rows while those of the next arrive.
bool goes_in_blocks(dist::ExchangeForm form) {
  return form == dist::ExchangeForm::broadcast || form == dist::ExchangeForm::ring;
}

/// Seconds of a transfer that the work meanwhile does not hide. The last block is waited for in any case.
double exposed(double transfer, double work, double ranks) {
  return std::max(transfer - work * (ranks - 1) / ranks, transfer / ranks);
}

/// Attention's time on the rank with most, as a multiple of the mean. Under a causal mask and a contiguous cut, that
/// rank has the last positions.
double share_of_most(const Layout& layout, bool causal, double ranks) {
  return causal && layout.exchange.cut == dist::Cut::contiguous ? 2 - 1 / ranks : 1;
}

/// The nodes that a group has ranks of, on the group with most: if nodes and groups do not divide one another, some
/// begin in the middle of a node.
double nodes_of(std::int64_t ranks, std::int64_t ranks_per_node) {
  const bool divides = ranks % ranks_per_node == 0 || ranks_per_node % ranks == 0;
  return std::ceil(static_cast<double>(ranks) / static_cast<double>(ranks_per_node)) + (divides ? 0 : 1);
}

}  // namespace

CollectiveCost::CollectiveCost(const MachineNumbers& machine, std::int64_t ranks, std::int64_t ranks_per_node)
    : machine_(machine),
      ranks_(static_cast<double>(ranks)),
      nodes_(nodes_of(ranks, ranks_per_node)),
      within_(std::ceil(ranks_ / nodes_)) {}

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
  if (ranks_ == 1 || bytes == 0) return 0;
  const double inside = bytes * (within_ - 1);
  const double leaving = bytes * within_ * (ranks_ - within_);  // a node, from all its ranks
  const double inside_seconds = inside == 0 ? 0 : inside / rate_at(machine_.within.gather, inside);
  const double leaving_seconds = leaving == 0 ? 0 : leaving / rate_at(machine_.between.gather, leaving);
  return rounds_seconds() + std::max(inside_seconds, leaving_seconds);
}

ExchangeCost exchange_cost(const Layout& layout, const CollectiveCost& group, double state_bytes, std::int64_t heads,
                           const AttentionOfLayer& attention, double overlap) {
  const double ranks = group.ranks();
  const double bytes = state_bytes * (layout.exchange.sent == dist::Sent::states ? 1 : 2);
  const double received = bytes * (ranks - 1) / ranks;  // by each rank, which sends as much
  const auto shared_heads = static_cast<double>(heads);
  ExchangeCost cost;
  cost.sent_bytes_of_rank = 2 * received;
  const bool attends_in_blocks = goes_in_blocks(layout.exchange.form) && !attention.stored;
  if (!attention.stored) cost.attention_factor = share_of_most(layout, attention.causal, ranks);
  if (attends_in_blocks) {
    constexpr double merge_factor = 1.05;  // merging the blocks' results
    constexpr double operations_of_block = 40;
    cost.attention_factor *= merge_factor;
    cost.operations = operations_of_block * (ranks - 1);
  }
  const double overlapping_work_seconds =
      // Of the forward pass; the backward pass hides twice as much.
      attends_in_blocks ? overlap * attention.seconds * cost.attention_factor / 3 : 0;
  switch (layout.exchange.form) {
    case dist::ExchangeForm::all_gather:
      cost.exposed_seconds = group.gather_seconds(bytes) + group.reduce_scatter_seconds(bytes);
      break;
    case dist::ExchangeForm::broadcast: {  // from each rank to every other; gradients go back in the same way
      const double blocks = group.gather_seconds(bytes) + ranks * group.round_seconds();
      cost.exposed_seconds =
          exposed(blocks, overlapping_work_seconds, ranks) + exposed(blocks, 2 * overlapping_work_seconds, ranks);
      break;
    }
    case dist::ExchangeForm::ring: {  // gradients go round the other way
      const double round = group.gather_seconds(bytes) + (ranks - 1) * group.round_seconds();
      cost.exposed_seconds =
          exposed(round, overlapping_work_seconds, ranks) + exposed(round, 2 * overlapping_work_seconds, ranks);
      break;
    }
    case dist::ExchangeForm::heads: {  // queries, keys and values go there, results back; their gradients too
      const double to_each = state_bytes / (ranks * ranks);
      cost.exposed_seconds = 2 * (group.all_to_all_seconds(3 * to_each) + group.all_to_all_seconds(to_each));
      cost.sent_bytes_of_rank = 2 * 4 * to_each * (ranks - 1);
      cost.attention_factor = std::ceil(shared_heads / ranks) * ranks / shared_heads;  // on the rank with most heads
      break;
    }
  }
  return cost;
}

}  // namespace ut::launcher
