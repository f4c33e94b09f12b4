#pragma once

#include <cstdint>
#include <functional>

namespace ut::launcher {

/// What the environment says about MPI or Slurm around this process.
struct RankEnvironment {
  bool is_rank = false;          // mpirun or srun has started this process as one of several, or mpirun alone
  std::int64_t rank = 0;         // its number
  std::int64_t world = 0;        // how many were started; 0: only MPI knows
  std::int64_t local_rank = 0;   // its number among the processes of its host; 0 if unknown
  std::int64_t local_ranks = 0;  // how many Open MPI's mpirun has started on its host; 0 if something else did
  bool can_meet = true;          // false: srun started them without PMIx, by which Open MPI finds the others
  bool is_only_task = false;     // srun has started this process, or the shell it is typed in, and no other

  /// Whether this process says what goes wrong on all alike. If the number of ranks is unknown, there may be no rank 0.
  bool speaks() const { return rank == 0 || world <= 1; }
};

using Environment = std::function<const char*(const char*)>;

/// Reads the variables that Open MPI, PMIx, PMI and Slurm set for the processes they start.
/// `get` answers as std::getenv does.
RankEnvironment find_rank_environment(const Environment& get);

}  // namespace ut::launcher
