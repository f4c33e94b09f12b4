#include "launcher/process/stop_request.h"

#include <array>
#include <csignal>
#include <vector>

#include "launcher/process/signal_set.h"

namespace ut::launcher {
namespace {

constexpr std::array always = {SIGUSR1};

/// Those that ask for a stop: they wait until they are looked for. A handler would be called amid the products of
/// oneDNN, which point the stack at other memory, and what a handler leaves on the stack would destroy that.
sigset_t caught = signal_set({});

void hold(std::span<const int> numbers, int how) {
  const sigset_t signals = signal_set(numbers);
  pthread_sigmask(how, &signals, nullptr);
}

void hold_stop_requests() { hold(always, SIG_BLOCK); }

[[gnu::section(".preinit_array"), gnu::used]] void (*const before_libraries)() = hold_stop_requests;

}  // namespace

void catch_stop_requests(std::span<const int> signals) {
  std::vector<int> numbers(signals.begin(), signals.end());
  numbers.insert(numbers.end(), always.begin(), always.end());
  hold(numbers, SIG_BLOCK);
  for (const int number : numbers) std::signal(number, SIG_DFL);  // what is ignored would not wait
  caught = signal_set(numbers);
}

void release_stop_requests() { hold(always, SIG_UNBLOCK); }

bool stop_requested() { return is_pending(caught); }

}  // namespace ut::launcher
