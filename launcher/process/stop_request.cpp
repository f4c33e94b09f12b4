#include "launcher/process/stop_request.h"

#include <unistd.h>

#include <array>
#include <atomic>
#include <csignal>
#include <optional>
#include <thread>
#include <vector>

#include "launcher/process/say.h"
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

/// Takes requests as they come, on a thread of its own: a handler would be called amid the products of oneDNN, which
/// point the stack at other memory, and what a handler leaves on the stack would destroy that.
void take_requests(const sigset_t& signals) {
  std::optional<Stopwatch> since_interrupted;
  for (int number = 0; sigwait(&signals, &number) == 0;) {
    has_come = true;
    if (number != SIGINT) continue;
    if (since_interrupted && since_interrupted->seconds() >= 1) {
      say("stopped before it could finish");
      ::_exit(1);
    }
    if (!since_interrupted) since_interrupted.emplace();
  }
}

[[gnu::section(".preinit_array"), gnu::used]] void (*const before_libraries)() = hold_stop_requests;

}  // namespace

void catch_stop_requests(std::span<const int> signals) {
  std::vector<int> numbers(signals.begin(), signals.end());
  numbers.insert(numbers.end(), always.begin(), always.end());
  hold(numbers, SIG_BLOCK);
  for (const int number : numbers) std::signal(number, SIG_DFL);  // what is ignored would not wait
  std::thread(take_requests, signal_set(numbers)).detach();
}

void release_stop_requests() { hold(always, SIG_UNBLOCK); }

bool stop_requested() { return has_come; }

}  // namespace ut::launcher
