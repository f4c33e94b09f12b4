#include "launcher/start/mpirun_environment.h"

#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/statvfs.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <sstream>

#include "base/error.h"
#include "launcher/process/readable.h"
#include "launcher/start/short_spins.h"
#include "launcher/start/terminal_columns.h"

namespace ut::launcher {
namespace {

/// What the names of mpirun's own settings begin with, in Open MPI 4 and 5.
constexpr std::array mpirun_settings = {"OMPI_MCA_", "PRTE_MCA_"};

/// Whether processes may read each other's memory. Some containers forbid it, and Open MPI then complains at
/// every message unless told not to try.
bool may_read_other_memory() {
  char from = 1;
  char to = 0;
  iovec local{&to, 1};
  iovec remote{&from, 1};
  return ::process_vm_readv(::getpid(), &local, 1, &remote, 1, 0) == 1;
}

/// The most ranks that share the cores of one host.
std::int64_t most_ranks_on_a_host(const SpawnRequest& request) {
  if (request.hosts.empty()) return request.ranks;
  return std::min(request.ranks, std::ranges::max(request.hosts, {}, &Host::slots).slots);
}

/// The threads that each rank on this host will have.
std::int64_t threads_of_ranks(const SpawnRequest& request, std::int64_t cores) {
  if (request.threads > 0) return request.threads;
  if (const char* given = std::getenv(threads_variable))  // the first of its numbers counts
    return std::max(1L, std::strtol(given, nullptr, 10));
  return threads_per_rank(cores, request.ranks);
}

/// Throws base::BadInput with the message, which has a place each for the limit and for what is needed.
void check_limit(decltype(RLIMIT_AS) resource, rlim_t needed, const char* message) {
  rlimit limit{};
  if (::getrlimit(resource, &limit) != 0 || limit.rlim_cur >= needed) return;
  const auto bytes = [](rlim_t amount) { return readable(static_cast<double>(amount), "B"); };
  throw base::BadInput(fmt::runtime(message), bytes(limit.rlim_cur), bytes(needed));
}

}  // namespace

std::int64_t threads_per_rank(std::int64_t cores, std::int64_t ranks) {
  return std::max<std::int64_t>(1, cores / ranks);
}

void check_threads_variable(const Environment& get) {
  const char* given = get(threads_variable);
  if (given == nullptr) return;
  constexpr std::int64_t most = 4096;
  const std::string text = given;
  std::istringstream levels(text);  // a number for each level of nested threads
  const auto is_number = [](const std::string& level) {
    std::istringstream number(level);
    std::int64_t threads = 0;
    return number >> threads && threads >= 1 && threads <= most && (number >> std::ws).eof();
  };
  bool is_good = !text.empty() && text.back() != ',';
  for (std::string level; is_good && std::getline(levels, level, ',');) is_good = is_number(level);
  if (!is_good)
    throw base::BadInput("{} \"{}\": needs a whole number from 1 to {}; or give --threads", threads_variable, text,
                         most);
}

std::vector<std::pair<std::string, std::string>> host_settings(std::int64_t timeout) {
  // A silent connection is probed after a third of the time, and given up after three probes without an answer. That is
  // before the ranks give up, who only know that they wait. Otherwise an mpirun whose ranks have ended would wait for
  // ever for the host that it cannot reach.
  const std::int64_t seconds = std::min<std::int64_t>(timeout, 30);
  const std::string question_every = std::to_string(seconds / 9);
  // ssh asks nothing of a person, and does not outlive the job.
  const std::string ssh = "-o BatchMode=yes -o ConnectTimeout=10 -o ServerAliveInterval=15";
  std::vector<std::pair<std::string, std::string>> settings = {{"OMPI_MCA_plm_rsh_args", ssh},
                                                               {"PRTE_MCA_plm_ssh_args", ssh}};
  for (const std::string of : mpirun_settings) {
    settings.emplace_back(of + "oob_tcp_keepalive_time", std::to_string(seconds / 3));
    settings.emplace_back(of + "oob_tcp_keepalive_intvl", question_every);
    settings.emplace_back(of + "oob_tcp_keepalive_probes", "3");
  }
  return settings;
}

std::vector<std::string> variables_for_hosts(const char* const* environment) {
  std::vector<std::string> names;
  for (; *environment != nullptr; ++environment) {
    const std::string_view set = *environment;
    constexpr std::array prefixes = {"NCCL_", "UCX_", "CUDA_", "PYTORCH_", "OMP_", "GOMP_"};
    if (std::ranges::any_of(prefixes, [set](const char* prefix) { return set.starts_with(prefix); }))
      names.emplace_back(set.substr(0, set.find('=')));
  }
  std::ranges::sort(names);
  return names;
}

void set_rank_environment(const SpawnRequest& request, std::int64_t cores) {
  // Threads that wait would otherwise keep the core from those they wait for.
  if (request.hosts.empty() && request.ranks * threads_of_ranks(request, cores) > cores)
    ::setenv("OMP_WAIT_POLICY", "passive", 0);
  set_short_spins();
  ::setenv("PATH", usual_path, 0);  // mpirun searches it for what it starts
  const auto columns = terminal_columns([](const char* name) { return std::getenv(name); });
  ::setenv(terminal_variable, std::to_string(columns).c_str(), 1);
  // The parent tells of a crash in one line; Open MPI's own traces of several ranks would come mixed.
  ::setenv("OMPI_MCA_opal_signal", "", 0);
  ::setenv("OMPI_MCA_btl_base_warn_component_unused", "0", 0);
  if (!may_read_other_memory()) ::setenv("OMPI_MCA_btl_vader_single_copy_mechanism", "none", 0);
  if (request.hosts.empty()) {
    for (const std::string of : mpirun_settings)
      ::setenv((of + "ras").c_str(), "^slurm,tm,lsf,gridengine,alps", 0);  // not a job's other hosts
    ::setenv("PRTE_MCA_plm", "^slurm", 0);  // asks srun for its version, which containers do not have
    return;
  }
  for (const auto& [name, value] : host_settings(request.timeout)) ::setenv(name.c_str(), value.c_str(), 0);
}

void allow_open_files(const SpawnRequest& request) {
  // Seen to suffice: 36 for two ranks, 48 for four, 64 for eight.
  const std::int64_t ranks = most_ranks_on_a_host(request);
  const auto needed = static_cast<rlim_t>(40 + 5 * ranks);
  rlimit files{};
  if (::getrlimit(RLIMIT_NOFILE, &files) != 0 || files.rlim_cur >= needed) return;
  if (files.rlim_max < needed)
    throw base::BadInput("open files: at most {} are allowed (ulimit -n), mpirun needs {} for {} ranks", files.rlim_max,
                         needed, ranks);
  files.rlim_cur = needed;
  ::setrlimit(RLIMIT_NOFILE, &files);
}

void check_stack() {
  check_limit(RLIMIT_STACK, 256'000,  // with 131 kB small models have been trained, with less a thread crashed
              "stack: a process may have {} (ulimit -s), ut needs {}");
}

void check_memory_and_file_size() {
  check_limit(RLIMIT_AS, 1'100'000'000,  // what a small model's rank takes
              "address space: a process may have {} (ulimit -v), a rank needs {} and room for its model");
  check_limit(RLIMIT_FSIZE, 16'000'000,  // with less, mpirun waits for ever for ranks that could not start
              "file size: a process may write {} (ulimit -f), a rank needs {} and room for its checkpoints");
}

void check_room_to_start(const Environment& get) {
  constexpr std::int64_t needed = 16;  // MB; with a few less, mpirun waits for ever
  const char* given = get("TMPDIR");
  const std::string directory = given == nullptr || *given == '\0' ? "/tmp" : given;
  std::error_code ignored;
  const bool is_there = std::filesystem::exists(directory, ignored);
  if (directory.front() != '/' || (is_there && !std::filesystem::is_directory(directory, ignored)))
    throw base::BadInput("TMPDIR {}: needs the absolute path of a directory", directory);
  if (!is_there) return;  // mpirun makes it
  if (::access(directory.c_str(), W_OK | X_OK) != 0)
    throw base::BadInput(
        "{}: cannot be written to ({}), and mpirun keeps files there while ranks run; set TMPDIR to another directory",
        directory, std::strerror(errno));
  struct statvfs place {};
  if (::statvfs(directory.c_str(), &place) != 0) return;
  constexpr std::uint64_t files = 64;  // with fewer, mpirun waits for ever, too
  if (place.f_files > 0 && place.f_favail < files)
    throw base::BadInput(
        "{}: has room for {} more files, mpirun needs {} to start ranks; remove some, or set TMPDIR to another "
        "directory",
        directory, place.f_favail, files);
  const auto free = static_cast<std::int64_t>(place.f_bavail * place.f_frsize / 1'000'000);
  if (free < needed)
    throw base::BadInput(
        "{}: {} MB are free, mpirun needs {} to start ranks; free some, or set TMPDIR to another directory", directory,
        free, needed);
}

}  // namespace ut::launcher
