#include "launcher/start/rank_environment.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <optional>
#include <thread>

#include "base/error.h"
#include "base/parse_number.h"
#include "launcher/options/option_checks.h"

namespace ut::launcher {
namespace {

std::optional<std::int64_t> number_in(const Environment& get, const char* name) {
  const char* text = get(name);
  if (text == nullptr) return std::nullopt;
  return base::parse_number<std::int64_t>(text);
}

/// The shell of a Slurm batch script or of salloc is a step as well, but not one of ranks.
bool is_slurm_shell(const Environment& get) {
  constexpr std::int64_t batch_step = 0xfffffffb;
  constexpr std::int64_t interactive_step = 0xfffffffa;
  const auto step = number_in(get, "SLURM_STEP_ID").value_or(0);
  return step == batch_step || step == interactive_step;
}

/// Open MPI, Slurm, MPICH and Intel MPI, Cray MPICH, MVAPICH.
std::int64_t find_local_rank(const Environment& get) {
  for (const char* name : {"OMPI_COMM_WORLD_LOCAL_RANK", "SLURM_LOCALID", "MPI_LOCALRANKID", "PMI_LOCAL_RANK",
                           "PALS_LOCAL_RANKID", "MV2_COMM_WORLD_LOCAL_RANK"})
    if (const auto number = number_in(get, name)) return *number;
  return 0;
}

/// More would spend minutes on starting, and all memory.
constexpr std::int64_t ranks_a_core = 32;

std::int64_t cores() { return std::max<std::int64_t>(1, std::thread::hardware_concurrency()); }

}  // namespace

RankEnvironment find_rank_environment(const Environment& get) {
  RankEnvironment found;
  const auto see = [&](const char* rank_name, const char* world_name) {
    const auto rank = number_in(get, rank_name);
    if (found.is_rank || !rank) return;
    found = {true, *rank, number_in(get, world_name).value_or(0), find_local_rank(get)};
  };
  see("OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE");
  if (is_slurm_shell(get)) return found;
  see("PMI_RANK", "PMI_SIZE");
  see("PMIX_RANK", "SLURM_STEP_NUM_TASKS");
  // A batch script's shell has a SLURM_PROCID too; only a step of srun has the number of its tasks.
  const auto tasks = number_in(get, "SLURM_STEP_NUM_TASKS");
  if (tasks) see("SLURM_PROCID", "SLURM_STEP_NUM_TASKS");
  found.can_meet = !tasks || get("OMPI_COMM_WORLD_RANK") != nullptr || get("PMIX_RANK") != nullptr;
  if (!found.can_meet && *tasks == 1) return {};  // alone it needs none of it
  return found;
}

std::int64_t choose_sequence_parallel(const Options& options, std::int64_t ranks) {
  const std::int64_t recorded = options.recorded_sequence_parallel;
  if (options.sequence_parallel == 0) {
    const std::int64_t kept = recorded > 0 && ranks % recorded == 0 ? recorded : 0;
    if (!options.plan_exchange) check_heads_suffice(options, kept);  // the exchange may be another than before
    return kept;
  }
  if (ranks % options.sequence_parallel != 0)
    throw base::BadInput(
        fmt::format("--sequence-parallel: {} given, needs a divisor of the number of ranks, which is {}",
                    options.sequence_parallel, ranks));
  return options.sequence_parallel;
}

std::int64_t choose_ranks(const Options& options, const RankEnvironment& environment, const std::vector<Host>& hosts) {
  const std::int64_t slots = slots_of(hosts);
  std::int64_t ranks = options.ranks > 0 ? options.ranks : options.recorded_ranks;
  if (ranks == 0) ranks = std::max<std::int64_t>(1, slots);
  if (options.ranks == 0 && !hosts.empty()) ranks = std::min(ranks, slots);  // of fewer hosts than before
  if (!hosts.empty() && ranks > slots)
    throw base::BadInput(fmt::format("--ranks: {} given, needs at most the {} slots of the hosts in --hostfile {}",
                                     ranks, slots, options.hostfile));
  if (hosts.empty() && !environment.is_rank && ranks > ranks_a_core * cores())
    throw base::BadInput(fmt::format("--ranks: {} {}, needs at most {} on the {} cores of this machine", ranks,
                                     options.ranks > 0 ? "given" : "in the run's record", ranks_a_core * cores(),
                                     cores()));
  if (environment.is_rank) {
    if (environment.world > 0 && options.ranks > 0 && options.ranks != environment.world)
      throw base::BadInput(fmt::format("--ranks: {} given, but mpirun or srun has started {}; leave --ranks out",
                                       options.ranks, environment.world));
    ranks = environment.world;
  }
  if (ranks > 0) choose_sequence_parallel(options, ranks);
  return ranks;
}

std::int64_t terminal_columns(const Environment& get) {
  if (const auto columns = number_in(get, terminal_variable)) return *columns;
  if (find_rank_environment(get).is_rank || ::isatty(STDOUT_FILENO) != 1) return 0;
  winsize size{};
  const bool known = ::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
  return known ? size.ws_col : 80;
}

}  // namespace ut::launcher
