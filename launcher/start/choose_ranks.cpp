#include "launcher/start/choose_ranks.h"

#include <algorithm>

#include "base/error.h"
#include "launcher/options/option_checks.h"
#include "launcher/process/cores.h"

namespace ut::launcher {
namespace {

/// More ranks would take minutes to start, and all memory.
constexpr std::int64_t ranks_a_core = 32;

}  // namespace

std::int64_t choose_sequence_parallel(const Options& options, std::int64_t ranks) {
  const std::int64_t recorded = options.recorded_sequence_parallel;
  if (options.sequence_parallel == 0) {
    const std::int64_t kept = recorded > 0 && ranks % recorded == 0 ? recorded : 0;
    if (!options.plan_exchange) check_heads_suffice(options, kept);  // the exchange may be another than before
    return kept;
  }
  if (ranks % options.sequence_parallel != 0)
    throw base::BadInput("--sequence-parallel: {} given, needs a divisor of the number of ranks, which is {}",
                         options.sequence_parallel, ranks);
  return options.sequence_parallel;
}

std::int64_t choose_ranks(const Options& options, const RankEnvironment& environment, const std::vector<Host>& hosts) {
  const std::int64_t slots = slots_of(hosts);
  const std::int64_t usual = environment.is_only_task ? 1 : options.recorded_ranks;
  std::int64_t ranks = options.ranks > 0 ? options.ranks : usual;
  if (ranks == 0) ranks = std::max<std::int64_t>(1, slots);
  if (options.ranks == 0 && !hosts.empty()) ranks = std::min(ranks, slots);  // there may be fewer hosts than before
  if (!hosts.empty() && ranks > slots)
    throw base::BadInput("--ranks: {} given, needs at most the {} slots of the hosts in --hostfile {}", ranks, slots,
                         options.hostfile);
  if (const std::int64_t cores = usable_cores(); hosts.empty() && !environment.is_rank && ranks > ranks_a_core * cores)
    throw base::BadInput("--ranks: {} {}, needs at most {} on the {} cores of this machine", ranks,
                         options.ranks > 0 ? "given" : "in the run's record", ranks_a_core * cores, cores);
  if (environment.is_rank) {
    if (environment.world > 0 && options.ranks > 0 && options.ranks != environment.world)
      throw base::BadInput("--ranks: {} given, but mpirun or srun has started {}; leave --ranks out", options.ranks,
                           environment.world);
    ranks = environment.world;
  }
  if (ranks > 0) choose_sequence_parallel(options, ranks);
  return ranks;
}

}  // namespace ut::launcher
