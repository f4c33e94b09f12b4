#include "launcher/process/signal_set.h"

namespace ut::launcher {

sigset_t signal_set(std::span<const int> numbers) {
  sigset_t signals;
  sigemptyset(&signals);
  for (const int number : numbers) sigaddset(&signals, number);
  return signals;
}

bool is_pending(const sigset_t& signals) {
  sigset_t pending;
  sigpending(&pending);
  sigandset(&pending, &pending, &signals);
  return sigisemptyset(&pending) == 0;
}

}  // namespace ut::launcher
