#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "launcher/start/rank_environment.h"
#include "launcher/start/spawn_request.h"

namespace ut::launcher {

inline constexpr const char* threads_variable = "OMP_NUM_THREADS";
inline constexpr const char* usual_path = "/usr/local/bin:/usr/bin:/bin";  // where there is none

/// Threads for each of the ranks that share the cores: at least one.
std::int64_t threads_per_rank(std::int64_t cores, std::int64_t ranks);

/// Throws base::BadInput where the variable of threads is set to no number, with which OpenMP would go on with as many
/// as there are cores, on every rank; or to more than --threads may be.
void check_threads_variable(const Environment& get);

/// The names of what an environment (NAME=VALUE, …, null) says to a rank's libraries, which ranks on other hosts are to
/// be told too; sorted.
std::vector<std::string> variables_for_hosts(const char* const* environment);

/// What the environment tells mpirun, unless it is set already: how to reach other hosts, and to notice that one cannot
/// be reached any more. Names and values.
std::vector<std::pair<std::string, std::string>> host_settings(std::int64_t timeout);

/// Sets in this process what mpirun and its ranks are to find in their environment; what is set already stays, but for
/// threads that the request has. `cores`: of this host.
void set_rank_environment(const SpawnRequest& request, std::int64_t cores);

/// Lets this process, and what it starts, have as many files open as mpirun needs for the ranks of this host. Throws
/// base::BadInput where it may not: mpirun would say nothing of use and wait for ever.
void allow_open_files(const SpawnRequest& request);

/// Throws base::BadInput where ranks may not have the address space that they need: mpirun and MPI would say all kinds
/// of things.
void check_address_space();

/// Throws base::BadInput where there is not enough room for what mpirun keeps while ranks run (in TMPDIR, or /tmp): it
/// would say nothing and wait for ever.
void check_room_to_start(const Environment& get);

}  // namespace ut::launcher
