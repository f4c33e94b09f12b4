#include "launcher/process/stop_request.h"

#include <poll.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <csignal>
#include <optional>
#include <string_view>
#include <thread>
#include <tuple>
#include <vector>

#include "launcher/process/signal_set.h"
#include "launcher/process/stopwatch.h"

namespace ut::launcher {
namespace {

constexpr std::array always = {SIGUSR1};

std::atomic<bool> has_come = false;

void hold(std::span<const int> numbers, int how) {
  const sigset_t signals = signal_set(numbers);
  pthread_sigmask(how, &signals, nullptr);
}

void hold_stop_requests() { hold(always, SIG_BLOCK); }

/// Uses nothing that the main thread may be writing with, and writes only if that need not wait: nobody may read it.
[[noreturn]] void end_at_once() {
  constexpr std::string_view line = "ut: stopped before it could finish\n";
  pollfd errors{STDERR_FILENO, POLLOUT, 0};
  if (::poll(&errors, 1, 0) == 1) std::ignore = ::write(STDERR_FILENO, line.data(), line.size());
  ::_exit(1);
}

/// Takes requests as they come, on a thread of its own. A signal handler could run amid oneDNN's products, which point
/// the stack at other memory, and would overwrite that memory.
void take_requests(const sigset_t& signals) {
  std::optional<Stopwatch> since_interrupted;
  for (int number = 0; sigwait(&signals, &number) == 0;) {
    has_come = true;
    if (number != SIGINT) continue;
    if (since_interrupted && since_interrupted->seconds() >= 1) end_at_once();
    if (!since_interrupted) since_interrupted.emplace();
  }
}

[[gnu::section(".preinit_array"), gnu::used]] void (*const before_libraries)() = hold_stop_requests;

}  // namespace

void catch_stop_requests(std::span<const int> signals) {
  std::vector<int> numbers(signals.begin(), signals.end());
  numbers.insert(numbers.end(), always.begin(), always.end());
  hold(numbers, SIG_BLOCK);
  for (const int number : numbers) std::signal(number, SIG_DFL);  // an ignored signal would not stay pending
  std::thread(take_requests, signal_set(numbers)).detach();
}

void release_stop_requests() { hold(always, SIG_UNBLOCK); }

bool stop_requested() { return has_come; }

}  // namespace ut::launcher
