#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "launcher/start/rank_environment.h"
#include "launcher/start/spawn_request.h"

namespace ut::launcher {

inline constexpr const char* threads_variable = "OMP_NUM_THREADS";
inline constexpr const char* usual_path = "/usr/local/bin:/usr/bin:/bin";  // if PATH is not set

/// Threads for each of `ranks` ranks that share `cores` cores: at least one.
std::int64_t threads_per_rank(std::int64_t cores, std::int64_t ranks);

/// Throws base::BadInput if the variable of threads is set to something that is no number, because OpenMP would then
/// use as many threads as there are cores, on every rank; or to more than --threads may be.
void check_threads_variable(const Environment& get);

/// The names of the variables in an environment (NAME=VALUE, …, null) that are meant for a rank's libraries and that
/// ranks on other hosts need too; sorted.
std::vector<std::string> variables_for_hosts(const char* const* environment);

/// Names and values of the variables that tell mpirun how to reach other hosts, and how to notice that one cannot be
/// reached any more. They do not replace variables that are set already. `timeout`: seconds.
std::vector<std::pair<std::string, std::string>> host_settings(std::int64_t timeout);

/// Sets the environment variables that mpirun and its ranks need, in this process. Variables that are set already stay.
/// `cores`: of this host.
void set_rank_environment(const SpawnRequest& request, std::int64_t cores);

/// Lets this process, and what it starts, have as many files open as mpirun needs for the ranks of this host. Throws
/// base::BadInput if it may not: mpirun would wait for ever, without a useful message.
void allow_open_files(const SpawnRequest& request);

/// Throws base::BadInput if the process may not have the stack that it and its threads need: they would crash.
void check_stack();

/// Throws base::BadInput if ranks may not have the address space, or write files of the size, that they need: mpirun
/// and MPI would not name the cause, or hang.
void check_memory_and_file_size();

/// Throws base::BadInput if there is not enough room for the files that mpirun keeps while ranks run (in TMPDIR, or
/// /tmp): it would say nothing and wait for ever.
void check_room_to_start(const Environment& get);

}  // namespace ut::launcher
