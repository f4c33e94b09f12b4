#include "launcher/plan/probe.h"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>

#include "base/counted.h"
#include "launcher/process/cores.h"
#include "launcher/process/memory_use.h"
#include "launcher/process/stopwatch.h"
#include "launcher/ranks/agree.h"
#include "launcher/ranks/device.h"
#include "launcher/ranks/shared_values.h"

namespace ut::launcher {
namespace {

using dist::Communicator;
using dist::Purpose;

/// What is assumed if nothing can be measured: within a host the shared memory seen elsewhere, between hosts 10 Gbit/s
/// Ethernet.
Link assumed_link(bool within) {
  const RateCurve rate = {{1, within ? 3e9 : 1e9}};
  return {within ? 5e-6 : 3e-5, rate, rate};
}

/// The mean of `value` over the ranks. Collective.
double mean_over(double value, Communicator& world) {
  const at::Tensor sum = at::full({1}, value, at::kDouble);
  world.all_reduce_sum(sum, Purpose::control);
  return sum.item<double>() / world.size();
}

/// Seconds of one call of a collective: the least of the means of three series, because other programs' work meanwhile
/// is no fault of the link. A series has as many calls as take a moment, but at most `most`.
double seconds_of(const std::function<void()>& collective, int most, Communicator& group) {
  constexpr double moment = 0.02;
  const auto timed = [&](int calls) {
    wait_for_all(group);
    const Stopwatch watch;
    for (int call = 0; call < calls; ++call) collective();
    return mean_over(watch.seconds() / calls, group);
  };
  const int calls = std::clamp(static_cast<int>(moment / timed(1)), 1, most);
  double least = timed(calls);
  for (int series = 1; series < 3; ++series) least = std::min(least, timed(calls));
  return least;
}

/// Bytes per second of messages of several sizes, not counting the time that the smallest message takes.
RateCurve rates_of_messages(const std::function<std::function<void()>(std::int64_t)>& collective_of_bytes,
                            double latency, Communicator& group) {
  constexpr std::array<std::int64_t, 4> sizes = {std::int64_t{1} << 14, std::int64_t{1} << 17, std::int64_t{1} << 20,
                                                 std::int64_t{1} << 23};
  constexpr double long_enough = 0.02;  // a larger message would say the same again
  RateCurve curve;
  for (const std::int64_t bytes : sizes) {
    const double seconds = seconds_of(collective_of_bytes(bytes), 20, group);
    const double without_latency = std::max(seconds - latency, seconds / 10);
    curve.push_back({static_cast<double>(bytes), static_cast<double>(bytes) / without_latency});
    if (seconds > long_enough) break;
  }
  return curve;
}

/// The share of a transfer during which the rank can work. Collective.
double probe_overlap(Communicator& group) {
  const std::vector<std::int64_t> one_each(static_cast<std::size_t>(group.size()), 1);
  const at::Tensor row = at::zeros({1, 1 << 18});
  const at::Tensor matrix = at::ones({192, 192});
  const auto start = [&] { return group.start_all_gather_rows(row, one_each, Purpose::control); };
  const auto work = [&](double seconds) {
    const Stopwatch watch;
    int made = 0;
    for (; watch.seconds() < seconds; ++made) at::mm(matrix, matrix);
    return made;
  };
  const double transfer = seconds_of([&] { start()(); }, 5, group);
  const double alone = work(transfer) / transfer;  // products a second
  constexpr int calls = 5;
  double overlap = 0;
  for (int call = 0; call < calls; ++call) {
    wait_for_all(group);
    const Stopwatch watch;
    const auto arriving = start();
    const int made = work(transfer);
    arriving();
    overlap += (transfer + made / alone - watch.seconds()) / transfer / calls;
  }
  return mean_over(std::clamp(overlap, 0.0, 1.0), group);
}

/// The share by which pieces of work of a few milliseconds take longer if all ranks meet after each. Collective.
double probe_unevenness(Communicator& world) {
  constexpr int pieces = 40;
  constexpr int products = 20;
  const at::Tensor matrix = at::ones({192, 192});
  const auto seconds_of_work = [&](bool meet) {
    wait_for_all(world);
    const Stopwatch watch;
    for (int piece = 0; piece < pieces; ++piece) {
      for (int made = 0; made < products; ++made) at::mm(matrix, matrix);
      if (meet) wait_for_all(world);
    }
    return mean_over(watch.seconds(), world);
  };
  const double alone = seconds_of_work(false);
  const double together = seconds_of_work(true);
  return std::clamp(together / alone - 1, 0.0, 1.0);
}

std::string describe_source(const Hosts& hosts) {
  std::string text = fmt::format("measured on {} on {}", base::counted(std::ssize(hosts.of_rank), "rank"),
                                 base::counted(std::ssize(hosts.names), "host"));
  if (hosts.most_ranks() == 1) text += "; the link within a node is assumed (3 GB/s)";
  if (hosts.names.size() == 1) text += "; links between nodes are assumed (1 GB/s)";
  return text;
}

}  // namespace

Link probe_link(Communicator& group) {
  const std::int64_t ranks = group.size();
  const std::vector<std::int64_t> one_each(static_cast<std::size_t>(ranks), 1);
  const auto gather = [&](std::int64_t received) -> std::function<void()> {
    const at::Tensor row = at::zeros({1, std::max<std::int64_t>(1, received / 4 / (ranks - 1))});
    // Training receives into memory that was not touched lately, because graphs keep what came before.
    const auto kept = std::make_shared<std::vector<at::Tensor>>();
    return [&group, &one_each, row, kept] {
      constexpr std::size_t kept_bytes = std::size_t{1} << 26;
      if (kept->size() * row.nbytes() * one_each.size() > kept_bytes) kept->clear();
      kept->push_back(group.all_gather_rows(row, one_each, Purpose::control));
    };
  };
  const auto reduce = [&](std::int64_t received) -> std::function<void()> {
    const at::Tensor all = at::zeros({std::max<std::int64_t>(1, received / 4 * ranks / (2 * (ranks - 1)))});
    return [&group, all] { group.all_reduce_sum(all, Purpose::control); };
  };
  const double rounds = std::ceil(std::log2(ranks));
  const double smallest = seconds_of(gather(4), 50, group);
  const double smallest_sum = seconds_of(reduce(4), 50, group);
  return {smallest / rounds, rates_of_messages(gather, smallest, group),
          rates_of_messages(reduce, smallest_sum, group)};
}

MachineNumbers probe_machine(Communicator& world, const Hosts& hosts, const Workload& work) {
  if (!world.device().is_cpu()) {
    const GpuKind gpu = kind_of_gpu(world.device().index());
    return machine_of_gpu(gpu.name, gpu.memory_bytes);
  }
  MachineNumbers numbers;
  wait_for_all(world);  // all measure at the same time
  probe_work(numbers, work.model);
  const auto [host, between] = split_by_host(hosts, world);
  numbers.within = host->size() > 1 ? probe_link(*host) : assumed_link(true);
  const bool crosses = host->rank() == 0 && between->size() > 1;
  numbers.between = crosses ? probe_link(*between) : assumed_link(false);
  numbers.overlap = world.size() > 1 ? probe_overlap(world) : 0;
  numbers.ranks_per_node = hosts.most_ranks();
  numbers.threads = at::get_num_threads();
  // Those of this rank, or of the ranks together if each is confined to its own.
  numbers.cores_per_node =
      std::min(cores_of_host(), std::max(usable_cores(), numbers.ranks_per_node * numbers.threads));
  numbers.memory_bytes = static_cast<double>(usable_memory()) / static_cast<double>(numbers.ranks_per_node);
  numbers.source = describe_source(hosts);
  wait_for_all(world);
  numbers.overhead = mean_over(probe_overhead(numbers, work), world);
  numbers.unevenness = world.size() > 1 ? probe_unevenness(world) : 0;
  // All ranks measured, but rank 0's numbers count. It is the first of its host, so it has seen every link.
  return parse_machine_numbers(text_of_rank(to_json(numbers).dump(), 0, world), "measured numbers");
}

}  // namespace ut::launcher
