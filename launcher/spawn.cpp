#include "launcher/spawn.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <poll.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <optional>
#include <sstream>
#include <stdexcept>
#include <thread>
#include <utility>

#include "base/error.h"
#include "launcher/metrics.h"
#include "launcher/mpirun_errors.h"

namespace ut::launcher {
namespace {

constexpr const char* terminal_variable = "UT_TERMINAL";
constexpr const char* threads_variable = "OMP_NUM_THREADS";

std::optional<std::int64_t> number_in(const Environment& get, const char* name) {
  const char* text = get(name);
  if (text == nullptr) return std::nullopt;
  std::int64_t number = 0;
  const char* end = text + std::strlen(text);
  const auto [stop, error] = std::from_chars(text, end, number);
  if (error != std::errc{} || stop != end) return std::nullopt;
  return number;
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

std::runtime_error system_error(const std::string& what) {
  return std::runtime_error(fmt::format("{}: {}", what, std::strerror(errno)));
}

/// Where the program is in PATH.
std::optional<std::string> find_in_path(const std::string& program) {
  const char* path = std::getenv("PATH");
  std::istringstream directories(path == nullptr ? "/usr/local/bin:/usr/bin:/bin" : path);
  for (std::string directory; std::getline(directories, directory, ':');) {
    const auto file = std::filesystem::path(directory) / program;
    if (::access(file.c_str(), X_OK) == 0) return file.string();
  }
  return std::nullopt;
}

/// Whether processes may read each other's memory. Some containers forbid it, and Open MPI then complains at
/// every message unless told not to try.
bool may_read_other_memory() {
  char from = 1;
  char to = 0;
  iovec local{&to, 1};
  iovec remote{&from, 1};
  return ::process_vm_readv(::getpid(), &local, 1, &remote, 1, 0) == 1;
}

sigset_t signals_to_wait_for(const std::vector<int>& stop_signals) {
  sigset_t signals;
  sigemptyset(&signals);
  for (const int signal : {SIGUSR1, SIGCHLD}) sigaddset(&signals, signal);
  for (const int signal : stop_signals) sigaddset(&signals, signal);
  return signals;
}

/// Signals that wait in a descriptor instead of interrupting, as long as this lives.
class WaitingSignals {
 public:
  explicit WaitingSignals(const std::vector<int>& stop_signals) {
    const sigset_t signals = signals_to_wait_for(stop_signals);
    pthread_sigmask(SIG_BLOCK, &signals, &before_);
    descriptor_ = ::signalfd(-1, &signals, SFD_CLOEXEC);
    if (descriptor_ < 0) throw system_error("signalfd");
  }
  WaitingSignals(const WaitingSignals&) = delete;
  WaitingSignals& operator=(const WaitingSignals&) = delete;
  ~WaitingSignals() {
    ::close(descriptor_);
    restore();
  }

  int descriptor() const { return descriptor_; }
  int next() const {
    signalfd_siginfo information{};
    const auto bytes = ::read(descriptor_, &information, sizeof information);
    return bytes == static_cast<ssize_t>(sizeof information) ? static_cast<int>(information.ssi_signo) : 0;
  }
  void restore() const { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

 private:
  sigset_t before_{};
  int descriptor_ = -1;
};

/// Copies a terminal's lines to mpirun, which is not in the terminal's foreground and may not read it itself.
class TerminalRelay {
 public:
  explicit TerminalRelay(bool wanted) {
    if (!wanted) return;
    std::array<int, 2> ends{};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0) throw system_error("pipe");
    reading_ = ends[0];
    writing_ = ends[1];
    ::signal(SIGPIPE, SIG_IGN);
  }
  TerminalRelay(const TerminalRelay&) = delete;
  TerminalRelay& operator=(const TerminalRelay&) = delete;
  ~TerminalRelay() {
    close(reading_);
    close(writing_);
  }

  int reading_end() const { return reading_; }
  bool open() const { return writing_ >= 0; }
  void copy() {
    std::array<char, 4096> bytes{};
    const auto count = ::read(STDIN_FILENO, bytes.data(), bytes.size());
    if (count <= 0 || ::write(writing_, bytes.data(), static_cast<std::size_t>(count)) != count) close(writing_);
  }

 private:
  static void close(int& descriptor) {
    if (descriptor >= 0) ::close(std::exchange(descriptor, -1));
  }
  int reading_ = -1;
  int writing_ = -1;
};

/// Copies standard error of mpirun and the ranks, but for what mpirun says about the end of ranks.
class ErrorRelay {
 public:
  ErrorRelay() {
    if (::pipe2(ends_.data(), O_CLOEXEC) != 0) throw system_error("pipe");
    ::fcntl(ends_[0], F_SETFL, O_NONBLOCK);
  }
  ErrorRelay(const ErrorRelay&) = delete;
  ErrorRelay& operator=(const ErrorRelay&) = delete;
  ~ErrorRelay() {
    copy();
    put(errors_.rest());
    for (const int end : ends_)
      if (end >= 0) ::close(end);
  }

  int reading_end() const { return ends_[0]; }
  int writing_end() const { return ends_[1]; }
  /// Once the child has it.
  void close_writing_end() { ::close(std::exchange(ends_[1], -1)); }
  /// All that has come so far.
  void copy() {
    std::array<char, 4096> bytes{};
    for (;;) {
      const auto count = ends_[0] < 0 ? 0 : ::read(ends_[0], bytes.data(), bytes.size());
      if (count == 0 && ends_[0] >= 0) ::close(std::exchange(ends_[0], -1));  // nobody writes any more
      if (count <= 0) return;
      put(errors_.pass_on(std::string_view(bytes.data(), static_cast<std::size_t>(count))));
    }
  }
  const std::optional<MpirunErrors::Ended>& ended_by_signal() const { return errors_.ended_by_signal(); }

 private:
  static void put(const std::string& text) { std::fwrite(text.data(), 1, text.size(), stderr); }

  std::array<int, 2> ends_{-1, -1};
  MpirunErrors errors_;
};

/// Ranks that share the cores of a host.
std::int64_t most_ranks_on_a_host(const SpawnRequest& request) {
  if (request.hosts.empty()) return request.ranks;
  return std::min(request.ranks, std::ranges::max(request.hosts, {}, &Host::slots).slots);
}

void set_rank_environment(const SpawnRequest& request, std::int64_t cores) {
  if (request.threads > 0 || std::getenv(threads_variable) == nullptr) {
    const auto threads = request.threads > 0 ? request.threads : threads_per_rank(cores, most_ranks_on_a_host(request));
    ::setenv(threads_variable, std::to_string(threads).c_str(), 1);
  }
  const auto columns = terminal_columns([](const char* name) { return std::getenv(name); });
  ::setenv(terminal_variable, std::to_string(columns).c_str(), 1);
  // A crash is told in one line by the parent; Open MPI's own traces of several ranks come mixed.
  ::setenv("OMPI_MCA_opal_signal", "", 0);
  ::setenv("OMPI_MCA_btl_base_warn_component_unused", "0", 0);
  if (!may_read_other_memory()) ::setenv("OMPI_MCA_btl_vader_single_copy_mechanism", "none", 0);
  if (request.hosts.empty()) return;
  for (const auto& [name, value] : host_settings(request.timeout)) ::setenv(name.c_str(), value.c_str(), 0);
}

/// In the child: becomes mpirun. Does not return.
[[noreturn]] void become_mpirun(const std::vector<std::string>& command, pid_t parent, int input, int errors) {
  // Ctrl-C goes to the terminal's foreground group: only to the parent, which lets the ranks finish their update.
  ::setpgid(0, 0);
  ::prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (::getppid() != parent) ::_exit(1);
  ::signal(SIGPIPE, SIG_DFL);
  if (input >= 0) ::dup2(input, STDIN_FILENO);
  ::dup2(errors, STDERR_FILENO);
  std::vector<char*> arguments;
  for (const auto& argument : command) arguments.push_back(const_cast<char*>(argument.c_str()));
  arguments.push_back(nullptr);
  ::execvp(arguments[0], arguments.data());
  ::_exit(127);
}

/// Passes signals and input on until mpirun has ended. Returns its wait status, and whether it was asked to stop.
std::pair<int, bool> attend(pid_t mpirun, const WaitingSignals& signals, TerminalRelay& relay, ErrorRelay& errors) {
  bool asked_to_stop = false;
  bool interrupted = false;
  for (;;) {
    std::array<pollfd, 3> sources{pollfd{signals.descriptor(), POLLIN, 0},
                                  pollfd{relay.open() ? STDIN_FILENO : -1, POLLIN, 0},
                                  pollfd{errors.reading_end(), POLLIN, 0}};
    if (::poll(sources.data(), sources.size(), -1) < 0 && errno != EINTR) throw system_error("poll");
    if (sources[1].revents != 0) relay.copy();
    if (sources[2].revents != 0) errors.copy();
    if (sources[0].revents == 0) continue;
    const int signal = signals.next();
    if (signal == SIGCHLD) {
      int status = 0;
      if (::waitpid(mpirun, &status, WNOHANG) == mpirun) return {status, asked_to_stop};
    } else if (signal != 0) {
      const bool at_once = signal == SIGINT && std::exchange(interrupted, true);
      ::kill(mpirun, at_once ? SIGTERM : SIGUSR1);
      asked_to_stop = true;
    }
  }
}

/// As `rank 1 on host n2, after update 120: `.
std::string who_and_when(const MpirunErrors::Ended& ended, const std::string& metrics) {
  const auto update = metrics.empty() ? std::nullopt : last_update(metrics);
  return fmt::format("rank {} on host {}{}: ", ended.rank, ended.host,
                     update ? fmt::format(", after update {}", *update) : "");
}

int exit_code(int status, bool asked_to_stop, const std::string& who) {
  constexpr int signal_base = 128;  // mpirun reports a rank ended by signal N as 128 + N
  const int code = WIFEXITED(status) ? WEXITSTATUS(status) : signal_base + WTERMSIG(status);
  const int signal = code - signal_base;
  if (signal <= 0) return code;
  if (signal >= NSIG) {  // mpirun's own: a failure of what it runs on the other hosts
    fmt::print(stderr, "ut: lost a host: it or the link to it is down, or ssh could not start ranks there\n");
    return 1;
  }
  if (asked_to_stop)
    fmt::print(stderr, "ut: stopped before it could finish\n");
  else
    fmt::print(stderr, "ut: {}ended by signal {} ({}){}\n", who, signal, ::strsignal(signal),
               signal == SIGKILL ? ": out of memory?" : "");
  return 1;
}

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

void check_sequence_parallel(std::int64_t sequence_parallel, std::int64_t ranks) {
  if (sequence_parallel > 0 && ranks % sequence_parallel != 0)
    throw base::BadInput(
        fmt::format("--sequence-parallel: {} given, needs a divisor of the number of ranks, which is {}",
                    sequence_parallel, ranks));
}

std::int64_t choose_ranks(const Options& options, const RankEnvironment& environment, const std::vector<Host>& hosts) {
  const std::int64_t slots = slots_of(hosts);
  std::int64_t ranks = options.ranks > 0 ? options.ranks : options.recorded_ranks;
  if (ranks == 0) ranks = std::max<std::int64_t>(1, slots);
  if (!hosts.empty() && ranks > slots)
    throw base::BadInput(fmt::format("--ranks: {} given, needs at most the {} slots of the hosts in --hostfile {}",
                                     ranks, slots, options.hostfile));
  if (environment.is_rank) {
    if (environment.world > 0 && options.ranks > 0 && options.ranks != environment.world)
      throw base::BadInput(fmt::format("--ranks: {} given, but mpirun or srun has started {}; leave --ranks out",
                                       options.ranks, environment.world));
    ranks = environment.world;
  }
  if (ranks > 0) check_sequence_parallel(options.sequence_parallel, ranks);
  return ranks;
}

std::int64_t threads_per_rank(std::int64_t cores, std::int64_t ranks) {
  return std::max<std::int64_t>(1, cores / ranks);
}

std::vector<std::pair<std::string, std::string>> host_settings(std::int64_t timeout) {
  // A connection that is silent is asked after a third of the time, and given up after three questions without an
  // answer: before the ranks, who only know that they wait, give up. An mpirun whose ranks have ended waits for ever
  // for the host that it cannot reach.
  const std::int64_t seconds = std::min<std::int64_t>(timeout, 30);
  const std::string question_every = std::to_string(seconds / 9);
  return {{"OMPI_MCA_oob_tcp_keepalive_time", std::to_string(seconds / 3)},
          {"OMPI_MCA_oob_tcp_keepalive_intvl", question_every},
          {"OMPI_MCA_oob_tcp_keepalive_probes", "3"},
          // ssh asks nothing of a person, and does not outlive the job.
          {"OMPI_MCA_plm_rsh_args", "-o BatchMode=yes -o ConnectTimeout=10 -o ServerAliveInterval=15"}};
}

std::vector<std::string> mpirun_command(const SpawnRequest& request, const std::string& mpirun,
                                        const std::string& executable, bool as_root) {
  std::vector<std::string> command = {mpirun, "--bind-to", "none"};
  if (request.hosts.empty()) {
    command.emplace_back("--oversubscribe");
  } else {
    std::vector<std::string> hosts;
    for (const Host& host : request.hosts) hosts.push_back(fmt::format("{}:{}", host.name, host.slots));
    const auto prefix = std::filesystem::path(mpirun).parent_path().parent_path();  // where ssh has another PATH
    command.insert(command.end(), {"--prefix", prefix.string(), "--map-by", "slot"});
    command.insert(command.end(), {"--host", fmt::format("{}", fmt::join(hosts, ","))});
  }
  if (as_root) command.emplace_back("--allow-run-as-root");
  // A rank that waits would otherwise keep the core from whoever it waits for: another rank, or another program.
  command.insert(command.end(), {"--mca", "mpi_yield_when_idle", "1"});
  command.insert(command.end(), {"-x", threads_variable, "-x", terminal_variable});
  command.insert(command.end(), {"-n", std::to_string(request.ranks), executable});
  command.insert(command.end(), request.arguments.begin(), request.arguments.end());
  return command;
}

int run_under_mpirun(const SpawnRequest& request) {
  const auto mpirun_path = find_in_path("mpirun");
  if (!mpirun_path)
    throw base::BadInput(fmt::format(
        "--ranks: {} given, but mpirun is not installed; on Debian: apt install openmpi-bin", request.ranks));
  const auto cores = std::max<std::int64_t>(1, std::thread::hardware_concurrency());
  const auto executable = std::filesystem::read_symlink("/proc/self/exe").string();
  const auto command = mpirun_command(request, *mpirun_path, executable, ::geteuid() == 0);
  const bool relayed = request.reads_standard_input && ::isatty(STDIN_FILENO) == 1;
  TerminalRelay relay(relayed);
  const int nothing = request.reads_standard_input ? -1 : ::open("/dev/null", O_RDONLY | O_CLOEXEC);
  ErrorRelay errors;
  const WaitingSignals signals(request.stop_signals);
  std::fflush(nullptr);
  const pid_t parent = ::getpid();
  const pid_t mpirun = ::fork();
  if (mpirun < 0) throw system_error("fork");
  if (mpirun == 0) {
    signals.restore();
    set_rank_environment(request, cores);
    become_mpirun(command, parent, relayed ? relay.reading_end() : nothing, errors.writing_end());
  }
  if (nothing >= 0) ::close(nothing);
  errors.close_writing_end();
  const auto [status, asked_to_stop] = attend(mpirun, signals, relay, errors);
  errors.copy();
  const auto& ended = errors.ended_by_signal();
  return exit_code(status, asked_to_stop, ended ? who_and_when(*ended, request.metrics) : "a rank was ");
}

std::int64_t terminal_columns(const Environment& get) {
  if (const auto columns = number_in(get, terminal_variable)) return *columns;
  if (find_rank_environment(get).is_rank || ::isatty(STDOUT_FILENO) != 1) return 0;
  winsize size{};
  const bool known = ::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
  return known ? size.ws_col : 80;
}

}  // namespace ut::launcher
