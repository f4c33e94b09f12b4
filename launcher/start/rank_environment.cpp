#include "launcher/start/rank_environment.h"

#include <optional>

#include "base/parse_number.h"

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

/// From the variables of Open MPI, Slurm, MPICH and Intel MPI, Cray MPICH, MVAPICH.
std::int64_t find_local_rank(const Environment& get) {
  for (const char* name : {"OMPI_COMM_WORLD_LOCAL_RANK", "SLURM_LOCALID", "MPI_LOCALRANKID", "PMI_LOCAL_RANK",
                           "PALS_LOCAL_RANKID", "MV2_COMM_WORLD_LOCAL_RANK"})
    if (const auto number = number_in(get, name)) return *number;
  return 0;
}

}  // namespace

RankEnvironment find_rank_environment(const Environment& get) {
  RankEnvironment found;
  const auto see = [&](const char* rank_name, const char* world_name) {
    const auto rank = number_in(get, rank_name);
    if (found.is_rank || !rank) return;
    found = {true, *rank, number_in(get, world_name).value_or(0), find_local_rank(get),
             number_in(get, "OMPI_COMM_WORLD_LOCAL_SIZE").value_or(0)};
  };
  // Open MPI's mpirun sets PMIX_RANK, too; alone, its own variables are left from something else.
  if (get("PMIX_RANK") != nullptr) see("OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE");
  if (found.is_rank || is_slurm_shell(get)) return found;
  see("PMI_RANK", "PMI_SIZE");
  see("PMIX_RANK", "SLURM_STEP_NUM_TASKS");
  // A batch script's shell has a SLURM_PROCID too; only a step of srun has the number of its tasks.
  const auto tasks = number_in(get, "SLURM_STEP_NUM_TASKS");
  if (tasks) see("SLURM_PROCID", "SLURM_STEP_NUM_TASKS");
  // A single task meets nobody. It may be a person's shell (srun --pty bash), where ut is to start ranks itself.
  if (tasks && *tasks == 1 && found.world <= 1) return {.is_only_task = true};
  const bool by_srun = tasks && *tasks == found.world;  // with another number, an mpirun inside its step
  found.can_meet = !by_srun || get("PMIX_RANK") != nullptr;
  return found;
}

}  // namespace ut::launcher
