#include "launcher/start/run_on_ranks.h"

#include <ATen/Parallel.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <optional>
#include <ranges>
#include <thread>
#include <vector>

#include "datasets/make_task.h"
#include "dist/mpi.h"
#include "launcher/plan/mesh_by_plan.h"
#include "launcher/process/cores.h"
#include "launcher/process/kept_memory.h"
#include "launcher/process/say.h"
#include "launcher/ranks/agree.h"
#include "launcher/ranks/device.h"
#include "launcher/ranks/patience.h"
#include "launcher/ranks/rank_checks.h"
#include "launcher/ranks/rank_hosts.h"
#include "launcher/start/choose_ranks.h"
#include "launcher/start/last_words.h"
#include "launcher/start/library_warnings.h"
#include "launcher/start/mpirun_environment.h"
#include "launcher/start/terminal_columns.h"

namespace ut::launcher {
namespace {

/// Says what happened to this rank. Each rank waits a little longer than the one before it, so that a failure of all
/// for the same reason is said once.
void say_failure(std::int64_t rank, std::int64_t update, const std::string& cause) {
  std::this_thread::sleep_for(std::chrono::milliseconds(100 * std::min<std::int64_t>(rank, 30)));
  say_of_rank(rank, host_name(), update, cause);
}

[[noreturn]] void end_all(int ranks, int exit_code) {
  if (ranks > 1) dist::MpiSession::abort(exit_code);
  std::_Exit(exit_code);
}

/// Says what happened and ends all ranks.
[[noreturn]] void fail(int rank, int ranks, std::int64_t at_update, const std::exception& error, int exit_code) {
  say_failure(rank, at_update, cause_of(error));
  end_all(ranks, exit_code);
}

/// The same for a failure that all ranks know of: rank 0 says it and ends the others.
[[noreturn]] void fail(int rank, int ranks, std::int64_t at_update, const FailureOfRank& failure) {
  if (rank == 0) say_of_rank(failure.rank(), failure.host(), at_update, cause_of(failure));
  if (rank != 0) std::this_thread::sleep_for(std::chrono::seconds(5));
  end_all(ranks, 1);
}

/// Which ranks this one has waited for in vain.
std::string who_is_late(const std::optional<std::vector<dist::AbsentRank>>& absent) {
  if (!absent) return "a rank hangs, or a host or link is down";
  if (absent->empty()) return "all of them wait, too: a message was lost, or they wait in different collectives";
  constexpr std::size_t most = 4;
  std::vector<std::string> late;
  for (const auto& [rank, host] : *absent | std::views::take(most))
    late.push_back(fmt::format("rank {} on host {}", rank, host));
  if (absent->size() > most) late.push_back(fmt::format("{} more", absent->size() - most));
  const char* which = late.size() > 1 ? "one or more of them " : "";
  return fmt::format("late: {} ({}still at work, hanging or out of reach)", fmt::join(late, ", "), which);
}

/// Ends this rank once it has waited too long for the others. MPI cannot be asked to end them: it may not reach them,
/// and the thread that waits is using it. They end with this rank or, if they are cut off from it, for the same reason.
dist::Patience patience(std::int64_t timeout, std::int64_t rank, const std::atomic<std::int64_t>& update) {
  const auto limit = patience_of_rank(timeout, rank);
  return {host_name(), limit,
          [=, &update](const std::string& call, const std::optional<std::vector<dist::AbsentRank>>& absent) {
            say_failure(rank, update,
                        fmt::format("waited {} s for the other ranks in {} (--timeout): {}", limit.count(), call,
                                    who_is_late(absent)));
            std::_Exit(1);
          }};
}

/// Without PMIx, Open MPI cannot start under srun, and says so in many lines from every rank.
void check_ranks_can_meet(const RankEnvironment& environment) {
  if (!environment.is_rank || environment.can_meet) return;
  throw base::BadInput(
      "srun has started {} ranks without PMIx, so that none can find the others; use srun --mpi=pmix (srun --mpi=list "
      "says whether it is there), or mpirun inside the job",
      environment.world);
}

/// An mpirun of another MPI starts programs that each believe they are alone.
void check_world(const dist::Communicator& world, const RankEnvironment& environment, const Options& options) {
  if (environment.world > 0 && environment.world != world.size())
    throw AgreedBadInput(
        "{} ranks were started, but MPI sees {}: this MPI and what started the ranks do not know one another; use "
        "mpirun of the same MPI, or srun --mpi=pmix",
        environment.world, world.size());
  if (environment.is_rank && options.ranks > 0 && options.ranks != world.size())  // the starter may give no number
    throw AgreedBadInput("--ranks: {} given, but {} were started; leave --ranks out", options.ranks, world.size());
}

/// LibTorch goes by OMP_NUM_THREADS and the cores, not by how much of their time a container has. Ranks that `ut` has
/// started share the cores of their own host, which may have more or fewer than the one where it was typed.
void set_threads(const Options& options, const RankEnvironment& environment) {
  if (options.threads > 0) return at::set_num_threads(static_cast<int>(options.threads));
  if (std::getenv(threads_variable) != nullptr) return;
  const bool started_by_ut = std::getenv(terminal_variable) != nullptr && environment.local_ranks > 0;
  const auto share = static_cast<int>(threads_per_rank(usable_cores(), started_by_ut ? environment.local_ranks : 1));
  if (started_by_ut || at::get_num_threads() > share) at::set_num_threads(share);
}

/// Reads the data set, which must be the same on all ranks, makes the mesh that the options ask for, and runs the
/// command in it. `mesh` outlives an exception thrown here: to take a communicator apart may need the other ranks,
/// which wait elsewhere.
int run_in_mesh(Options options, std::unique_ptr<dist::Communicator>& world, std::optional<dist::Mesh>& mesh,
                std::atomic<std::int64_t>& update, const std::function<int(Session&)>& command) {
  std::unique_ptr<datasets::Task> task;
  agree(*world, [&] {
    options.sequence_parallel = choose_sequence_parallel(options, world->size());
    if (!options.task.task.empty()) task = datasets::make_task(options.task);
  });
  if (task) check_same_data(*task, *world);
  // Not before: the memory that reading the data took is not needed again.
  keep_freed_memory();
  const Options used = with_mesh_by_plan(options, task.get(), *world);
  mesh.emplace(std::move(world), static_cast<int>(used.sequence_parallel));
  Session session{used, *mesh, std::move(task), update};
  return command(session);
}

/// Ranks that an MPI of another kind started each believe they are rank 0; only one of them speaks.
void say_agreed(const AgreedBadInput& error, int rank, const RankEnvironment& environment) {
  if (rank == 0 && environment.speaks()) say(error.what());
}

}  // namespace

void say_of_rank(std::int64_t rank, const std::string& host, std::int64_t update, const std::string& cause) {
  say(rank_and_update(rank, host, update) + cause);
}

int refuse_on_ranks(const std::string& why, const RankEnvironment& environment) {
  const std::atomic<std::int64_t> update = -1;
  const dist::MpiSession mpi(patience(Options().timeout, environment.rank, update));
  const std::unique_ptr<dist::Communicator> world = mpi.world();
  try {
    agree(*world, [&] { throw base::BadInput(why); });
  } catch (const AgreedBadInput& error) {
    say_agreed(error, world->rank(), environment);
  }
  return 2;
}

int run_on_ranks(const Options& options, const RankEnvironment& environment,
                 const std::function<int(Session&)>& command) {
  set_threads(options, environment);
  say_library_warnings_once();
  check_ranks_can_meet(environment);
  std::atomic<std::int64_t> update = -1;
  std::optional<dist::MpiSession> mpi;
  if (environment.is_rank) mpi.emplace(patience(options.timeout, environment.rank, update));
  int rank = static_cast<int>(environment.rank);
  int ranks = static_cast<int>(environment.world);
  const LastWords last_words([&](const std::exception& error) { fail(rank, ranks, update, error, 1); });
  std::unique_ptr<dist::Communicator> world;
  std::optional<dist::Mesh> mesh;
  try {
    world = mpi ? mpi->world() : dist::make_single_communicator();
    rank = world->rank();
    ranks = world->size();
    agree(*world, [] {});  // meets ranks that are in refuse_on_ranks()
    check_world(*world, environment, options);
    check_same_options(options, *world);
    const RankDevice device = agree_on_device(options, environment.local_rank, *world);
    world = make_communicator(options, device, std::move(world), [&](const std::string& what) {
      say_failure(rank, update, what);
      std::_Exit(1);
    });
    return run_in_mesh(options, world, mesh, update, command);
  } catch (const AgreedBadInput& error) {
    say_agreed(error, rank, environment);
    return 2;
  } catch (const FailureOfRank& failure) {
    fail(rank, ranks, update, failure);
  } catch (const base::BadInput& error) {
    fail(rank, ranks, update, error, 2);
  } catch (const std::exception& error) {
    fail(rank, ranks, update, error, 1);
  }
}

}  // namespace ut::launcher
