#include "launcher/process/stop_request.h"

#include <array>
#include <csignal>
#include <vector>

namespace ut::launcher {
namespace {

sigset_t set_of(std::span<const int> numbers) {
  sigset_t signals;
  sigemptyset(&signals);
  for (const int number : numbers) sigaddset(&signals, number);
  return signals;
}

constexpr std::array always = {SIGUSR1};

/// Those that ask for a stop: they wait until they are looked for. A handler would be called amid the products of
/// oneDNN, which point the stack at other memory, and what a handler leaves on the stack would destroy that.
sigset_t caught = set_of({});

void hold(std::span<const int> numbers, int how) {
  const sigset_t signals = set_of(numbers);
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
  caught = set_of(numbers);
}

void release_stop_requests() { hold(always, SIG_UNBLOCK); }

bool stop_requested() {
  sigset_t pending;
  sigpending(&pending);
  sigandset(&pending, &pending, &caught);
  return sigisemptyset(&pending) == 0;
}

}  // namespace ut::launcher
