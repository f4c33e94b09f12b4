#include "launcher/start/mpirun_end.h"

#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include <csignal>
#include <cstring>
#include <string>

#include "launcher/process/say.h"
#include "launcher/process/stop_request.h"
#include "launcher/run/metrics.h"

namespace ut::launcher {
namespace {

/// Which rank a signal ended, and after which update.
std::string who_and_when(const MpirunErrors::Ended& rank, const std::string& metrics) {
  const auto update = metrics.empty() ? std::nullopt : newest_update(metrics);
  return rank_and_update(rank.rank, rank.host, update.value_or(-1));
}

/// What a signal may mean if nobody is known to have sent it.
std::string killed_why(int signal) {
  rlimit seconds{};
  const bool is_timed = ::getrlimit(RLIMIT_CPU, &seconds) == 0 && seconds.rlim_max != RLIM_INFINITY;
  if (signal != SIGKILL) return "";
  return is_timed ? ": out of memory, or of processor time (ulimit -t)?" : ": out of memory?";
}

/// For a code that is not a signal's. Empty if ranks ended with it: they have their reasons, such as a doctor's
/// findings.
std::string why_it_failed(int code, const MpirunEnd& end) {
  if (code == 0 || code == stopped_on_request) return "";
  if (end.told_to_end) return code == 1 ? "stopped before it could finish" : "";
  if (end.told.has_given_up) return "MPI has failed, as its own lines here say; ut doctor may find the cause";
  return end.told.rank_has_ended ? "" : fmt::format("mpirun ended with {} before its ranks did", code);
}

}  // namespace

int exit_code(const MpirunEnd& end, const SpawnRequest& request) {
  const bool trains = !request.metrics.empty();
  constexpr int signal_base = 128;  // mpirun reports a rank ended by signal N as 128 + N
  const int code = WIFEXITED(end.status) ? WEXITSTATUS(end.status) : signal_base + WTERMSIG(end.status);
  const int signal = code - signal_base;
  if (signal <= 0) {
    if (const std::string why = why_it_failed(code, end); !why.empty() && !end.told.cause) say(why);
    return code;
  }
  if (signal >= NSIG) {  // mpirun's own code: what it runs on the other hosts has failed
    say(request.hosts.empty() ? fmt::format("mpirun could not start the ranks: it ended with {}", code)
                              : "lost a host: it or the link to it is down, or ssh could not start ranks there");
    return 1;
  }
  const std::optional<MpirunErrors::Ended>& rank = end.told.ended_by_signal;
  // For a training, a stop is no failure.
  if (end.asked_to_stop && signal == SIGUSR1 && trains) return stopped_before_training();  // no rank could take it
  if (end.asked_to_stop && (end.told_to_end || !trains || !rank))  // a rank may fail while it stops
    say("stopped before it could finish");
  else if (!rank && WIFEXITED(end.status))
    say(fmt::format("mpirun could not start the ranks: it ended with {}", code));
  else
    say(fmt::format("{}ended by signal {} ({}){}", rank ? who_and_when(*rank, request.metrics) : "mpirun was ", signal,
                    ::strsignal(signal), killed_why(signal)));
  return 1;
}

int stopped_before_training() {
  say("stopped on request before training began; give the same command again to train");
  return stopped_on_request;
}

}  // namespace ut::launcher
