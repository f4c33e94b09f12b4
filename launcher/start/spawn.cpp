#include "launcher/start/spawn.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "launcher/process/cores.h"
#include "launcher/process/say.h"
#include "launcher/process/signal_set.h"
#include "launcher/process/standard_input.h"
#include "launcher/process/stop_request.h"
#include "launcher/process/system_error.h"
#include "launcher/start/mpirun_command.h"
#include "launcher/start/mpirun_end.h"
#include "launcher/start/mpirun_environment.h"
#include "launcher/start/relays.h"
#include "launcher/start/reminders.h"

namespace ut::launcher {
namespace {

/// Signals that end mpirun, and by it the ranks. A batch system or a person may send them to every process of a job,
/// but the ranks are to have the time to stop.
constexpr std::array kept_from_mpirun = {SIGTERM, SIGINT};

/// In the child: becomes mpirun. Does not return.
[[noreturn]] void become_mpirun(const std::vector<std::string>& command, pid_t parent, int input, int output,
                                int errors) {
  // Ctrl-C goes to the terminal's foreground group: only to the parent, which lets the ranks finish their update.
  ::setpgid(0, 0);
  ::prctl(PR_SET_PDEATHSIG, ends_mpirun);
  if (::getppid() != parent) ::_exit(1);
  ::signal(SIGPIPE, SIG_DFL);
  ::signal(SIGUSR1, SIG_IGN);  // until mpirun can pass it on; attend() repeats it
  release_stop_requests();
  const sigset_t kept = signal_set(kept_from_mpirun);
  ::pthread_sigmask(SIG_BLOCK, &kept, nullptr);  // mpirun unblocks them in what it starts
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

/// Passes signals, input and output on until mpirun has ended and all that was said is written. A signal after mpirun's
/// end drops what is not written yet.
MpirunEnd attend(pid_t mpirun, std::chrono::seconds patience, const WaitingSignals& signals, TerminalRelay& relay,
                 OutputRelay& output, ErrorRelay& errors) {
  const auto from = [](bool wanted, int descriptor) { return pollfd{wanted ? descriptor : -1, POLLIN, 0}; };
  Reminders reminders(mpirun, patience);
  std::optional<MpirunEnd> end;
  while (!end || !output.queue().is_empty() || !errors.queue().is_empty()) {
    std::array<pollfd, 6> streams{from(true, signals.descriptor()),
                                  from(relay.open(), STDIN_FILENO),
                                  from(!output.queue().is_full(), output.pipe().reading_end()),
                                  from(!errors.queue().is_full(), errors.pipe().reading_end()),
                                  output.queue().poll_request(),
                                  errors.queue().poll_request()};
    if (::poll(streams.data(), streams.size(), end ? -1 : reminders.remind()) < 0 && errno != EINTR)
      throw system_error("poll");
    if (streams[1].revents != 0) relay.copy();
    if (streams[2].revents != 0) output.take();
    if (streams[3].revents != 0) errors.take();
    if (streams[4].revents != 0) output.queue().write_some();
    if (streams[5].revents != 0) errors.queue().write_some();
    if (errors.told().has_given_up) reminders.mpirun_has_given_up();
    if (streams[0].revents == 0) continue;
    const int signal = signals.next();
    if (signal == SIGCHLD) {
      int status = 0;
      if (end || ::waitpid(mpirun, &status, WNOHANG) != mpirun) continue;
      end = {status, reminders.asked_to_stop(), reminders.told_to_end()};
      output.take();
      errors.take();
    } else if (end && signal != 0) {
      output.queue().give_up(ECANCELED);
      errors.queue().give_up(ECANCELED);
    } else if (signal == SIGINT) {
      reminders.interrupt();
    } else if (signal != 0) {
      reminders.ask_to_stop();
    }
  }
  return *end;
}

}  // namespace

int run_under_mpirun(const SpawnRequest& request, const WaitingSignals& signals) {
  if (request.reads_standard_input) check_standard_input();
  check_room_to_start([](const char* name) { return std::getenv(name); });
  check_memory_and_file_size();
  allow_open_files(request);
  const std::string mpirun_path = find_mpirun(request);
  const std::int64_t cores = usable_cores();
  const auto executable = std::filesystem::read_symlink("/proc/self/exe").string();
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
    const auto command =
        mpirun_command(request, mpirun_path, executable, ::geteuid() == 0, variables_for_hosts(environ));
    become_mpirun(command, parent, relayed ? relay.reading_end() : nothing, output.pipe().writing_end(),
                  errors.pipe().writing_end());
  }
  if (nothing >= 0) ::close(nothing);
  output.pipe().close_writing_end();
  errors.pipe().close_writing_end();
  MpirunEnd end = attend(mpirun, std::chrono::seconds(request.timeout), signals, relay, output, errors);
  end.told = errors.told();
  const int code = exit_code(end, request);
  if (code == 0) output.check();
  return code;
}

}  // namespace ut::launcher
