#include "launcher/start/spawn.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <optional>
#include <sstream>
#include <utility>

#include "base/error.h"
#include "launcher/process/cores.h"
#include "launcher/process/say.h"
#include "launcher/process/signal_set.h"
#include "launcher/process/standard_input.h"
#include "launcher/process/stop_request.h"
#include "launcher/process/system_error.h"
#include "launcher/run/metrics.h"
#include "launcher/start/mpirun_environment.h"
#include "launcher/start/mpirun_errors.h"
#include "launcher/start/relays.h"
#include "launcher/start/terminal_columns.h"

namespace ut::launcher {
namespace {

using Clock = std::chrono::steady_clock;
constexpr std::chrono::milliseconds repeat_after{1000};

/// Where the program is in PATH.
std::optional<std::string> find_in_path(const std::string& program) {
  const char* path = std::getenv("PATH");
  std::istringstream directories(path == nullptr ? usual_path : path);
  for (std::string directory; std::getline(directories, directory, ':');) {
    const auto file = std::filesystem::path(directory) / program;
    std::error_code unseen;
    if (std::filesystem::is_regular_file(file, unseen) && ::access(file.c_str(), X_OK) == 0) return file.string();
  }
  return std::nullopt;
}

/// Ends mpirun, and by it the ranks. It acts on those that are kept from it in the same way: a batch system or a person
/// may send them to every process of a job, and the ranks are to have the time to stop.
constexpr int ends_mpirun = SIGHUP;
constexpr std::array kept_from_mpirun = {SIGTERM, SIGINT};

/// In the child: becomes mpirun. Does not return.
[[noreturn]] void become_mpirun(const std::vector<std::string>& command, pid_t parent, int input, int output,
                                int errors) {
  // Ctrl-C goes to the terminal's foreground group: only to the parent, which lets the ranks finish their update.
  ::setpgid(0, 0);
  ::prctl(PR_SET_PDEATHSIG, ends_mpirun);
  if (::getppid() != parent) ::_exit(1);
  ::signal(SIGPIPE, SIG_DFL);
  ::signal(SIGUSR1, SIG_IGN);  // until mpirun passes it on: attend() repeats it
  release_stop_requests();
  const sigset_t kept = signal_set(kept_from_mpirun);
  ::pthread_sigmask(SIG_BLOCK, &kept, nullptr);  // which mpirun undoes in what it starts
  if (input >= 0) ::dup2(input, STDIN_FILENO);
  ::dup2(output, STDOUT_FILENO);
  ::dup2(errors, STDERR_FILENO);
  std::vector<char*> arguments;
  for (const auto& argument : command) arguments.push_back(const_cast<char*>(argument.c_str()));
  arguments.push_back(nullptr);
  ::execvp(arguments[0], arguments.data());
  say(fmt::format("{}: cannot be run: {}", command[0], std::strerror(errno)));
  ::_exit(2);
}

/// When mpirun is to be told something, and what.
class Reminders {
 public:
  /// `patience`: from the moment on that mpirun has given up.
  Reminders(pid_t mpirun, std::chrono::seconds patience) : mpirun_(mpirun), patience_(patience) {}

  bool asked_to_stop() const { return ask_again_ != never; }
  bool told_to_end() const { return told_to_end_; }
  /// Which is repeated: mpirun and the ranks may not have been there yet.
  void ask_to_stop() {
    ::kill(mpirun_, SIGUSR1);
    ask_again_ = Clock::now() + repeat_after;
  }
  void ask_to_end_at_once() {
    if (std::exchange(told_to_end_, true)) return;  // of twice mpirun makes words
    ::kill(mpirun_, ends_mpirun);
    ask_again_ = Clock::now() + repeat_after;
    give_time(std::chrono::seconds(5));
  }
  void mpirun_has_given_up() { give_time(patience_); }

  /// Does what is due. Returns the milliseconds until more is, for poll(); -1: for ever.
  int remind() {
    const auto now = Clock::now();
    if (now >= ask_again_) ask_to_stop();
    if (now >= end_it_) {
      ::kill(-mpirun_, SIGKILL);
      end_it_ = now + repeat_after;
    }
    const auto next = std::min(ask_again_, end_it_);
    if (next == never) return -1;
    const auto time = std::min<Clock::duration>(next - now, std::chrono::hours(1));
    return static_cast<int>(std::chrono::ceil<std::chrono::milliseconds>(time).count());
  }

 private:
  static constexpr Clock::time_point never = Clock::time_point::max();

  void give_time(Clock::duration time) { end_it_ = std::min(end_it_, Clock::now() + time); }

  pid_t mpirun_;
  std::chrono::seconds patience_;
  Clock::time_point ask_again_ = never;  // once asked to stop
  Clock::time_point end_it_ = never;     // where it may not end by itself
  bool told_to_end_ = false;
};

/// How mpirun ended.
struct Ended {
  int status;  // as of wait()
  bool asked_to_stop;
  bool told_to_end;  // at once
};

/// Passes signals, input and output on until mpirun has ended.
Ended attend(pid_t mpirun, std::chrono::seconds patience, const WaitingSignals& signals, TerminalRelay& relay,
             OutputRelay& output, ErrorRelay& errors) {
  Reminders reminders(mpirun, patience);
  auto insistent_from = Clock::time_point::max();  // who hits Ctrl-C twice at once means it once
  for (;;) {
    std::array<pollfd, 4> sources{
        pollfd{signals.descriptor(), POLLIN, 0}, pollfd{relay.open() ? STDIN_FILENO : -1, POLLIN, 0},
        pollfd{output.pipe().reading_end(), POLLIN, 0}, pollfd{errors.pipe().reading_end(), POLLIN, 0}};
    if (::poll(sources.data(), sources.size(), reminders.remind()) < 0 && errno != EINTR) throw system_error("poll");
    if (sources[1].revents != 0) relay.copy();
    if (sources[2].revents != 0) output.copy();
    if (sources[3].revents != 0) errors.copy();
    if (errors.has_given_up()) reminders.mpirun_has_given_up();
    if (sources[0].revents == 0) continue;
    const int signal = signals.next();
    if (signal == SIGCHLD) {
      int status = 0;
      if (::waitpid(mpirun, &status, WNOHANG) == mpirun)
        return {status, reminders.asked_to_stop(), reminders.told_to_end()};
    } else if (signal == SIGINT && Clock::now() > std::exchange(insistent_from, Clock::now() + repeat_after)) {
      reminders.ask_to_end_at_once();
    } else if (signal != 0) {
      reminders.ask_to_stop();
    }
  }
}

std::string who_and_when(const MpirunErrors::Ended& ended, const std::string& metrics) {
  const auto update = metrics.empty() ? std::nullopt : newest_update(metrics);
  return rank_and_update(ended.rank, ended.host, update.value_or(-1));
}

/// `who` was ended by a signal; none: mpirun has said so of no rank. `trains`: a stop is no failure.
int exit_code(const Ended& ended, const std::optional<std::string>& who, const SpawnRequest& request) {
  const auto& [status, asked_to_stop, told_to_end] = ended;
  const bool trains = !request.metrics.empty();
  constexpr int signal_base = 128;  // mpirun reports a rank ended by signal N as 128 + N
  const int code = WIFEXITED(status) ? WEXITSTATUS(status) : signal_base + WTERMSIG(status);
  const int signal = code - signal_base;
  if (signal <= 0) return code;
  if (signal >= NSIG) {  // mpirun's own: a failure of what it runs on the other hosts
    say(request.hosts.empty() ? fmt::format("mpirun could not start the ranks: it ended with {}", code)
                              : "lost a host: it or the link to it is down, or ssh could not start ranks there");
    return 1;
  }
  if (asked_to_stop && signal == SIGUSR1 && trains) return stopped_before_training();  // before the rank could take it
  if (asked_to_stop && (told_to_end || !trains || !who))  // a rank that takes its time to stop may fail in it
    say("stopped before it could finish");
  else if (!who && WIFEXITED(status))
    say(fmt::format("mpirun could not start the ranks: it ended with {}", code));
  else
    say(fmt::format("{}ended by signal {} ({}){}", who.value_or("mpirun was "), signal, ::strsignal(signal),
                    signal == SIGKILL ? ": out of memory?" : ""));
  return 1;
}

}  // namespace

std::vector<std::string> mpirun_command(const SpawnRequest& request, const std::string& mpirun,
                                        const std::string& executable, bool as_root,
                                        const std::vector<std::string>& variables) {
  // mpirun would bind each rank to one core, which all its threads would share.
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
  if (!request.hosts.empty())  // elsewhere ranks have this program's
    for (const std::string& variable : variables) command.insert(command.end(), {"-x", variable});
  command.insert(command.end(), {"-n", std::to_string(request.ranks), executable});
  command.insert(command.end(), request.arguments.begin(), request.arguments.end());
  return command;
}

int stopped_before_training() {
  say("stopped on request before training began; the same command goes on");
  return stopped_on_request;
}

int run_under_mpirun(const SpawnRequest& request, const WaitingSignals& signals) {
  if (request.reads_standard_input) check_standard_input();
  check_room_to_start([](const char* name) { return std::getenv(name); });
  const auto mpirun_path = find_in_path("mpirun");
  if (!mpirun_path)
    throw base::BadInput(fmt::format(
        "--ranks: {} given, but mpirun is not installed; on Debian: apt install openmpi-bin", request.ranks));
  const std::int64_t cores = usable_cores();
  const auto executable = std::filesystem::read_symlink("/proc/self/exe").string();
  const auto command =
      mpirun_command(request, *mpirun_path, executable, ::geteuid() == 0, variables_for_hosts(environ));
  const bool relayed = request.reads_standard_input && ::isatty(STDIN_FILENO) == 1;
  TerminalRelay relay(relayed);
  const int nothing = request.reads_standard_input ? -1 : ::open("/dev/null", O_RDONLY | O_CLOEXEC);
  OutputRelay output;
  ErrorRelay errors;
  std::fflush(nullptr);
  const pid_t parent = ::getpid();
  const pid_t mpirun = ::fork();
  if (mpirun < 0) throw system_error("fork");
  if (mpirun == 0) {
    signals.restore();
    set_rank_environment(request, cores);
    become_mpirun(command, parent, relayed ? relay.reading_end() : nothing, output.pipe().writing_end(),
                  errors.pipe().writing_end());
  }
  if (nothing >= 0) ::close(nothing);
  output.pipe().close_writing_end();
  errors.pipe().close_writing_end();
  const Ended ended = attend(mpirun, std::chrono::seconds(request.timeout), signals, relay, output, errors);
  output.copy();
  errors.copy();
  std::optional<std::string> who;
  if (const auto& rank = errors.ended_by_signal()) who = who_and_when(*rank, request.metrics);
  const int code = exit_code(ended, who, request);
  if (code == 0) output.check();
  return code;
}

}  // namespace ut::launcher
