#include "launcher/start/waiting_signals.h"

#include <sys/signalfd.h>
#include <unistd.h>

#include <array>

#include "launcher/process/signal_set.h"
#include "launcher/process/system_error.h"

namespace ut::launcher {
namespace {

void mask_interrupts(int how) {
  const sigset_t interrupts = signal_set(std::array{SIGINT});
  pthread_sigmask(how, &interrupts, nullptr);
}

}  // namespace

WaitingSignals::WaitingSignals(const std::vector<int>& stop_signals) : stops_(signal_set(stop_signals)) {
  sigaddset(&stops_, SIGUSR1);
  sigset_t signals = stops_;
  sigaddset(&signals, SIGCHLD);
  pthread_sigmask(SIG_BLOCK, &signals, &before_);
  descriptor_ = ::signalfd(-1, &signals, SFD_CLOEXEC);
  if (descriptor_ < 0) throw system_error("signalfd");
}

WaitingSignals::~WaitingSignals() { ::close(descriptor_); }

int WaitingSignals::next() const {
  signalfd_siginfo information{};
  const auto bytes = ::read(descriptor_, &information, sizeof information);
  return bytes == static_cast<ssize_t>(sizeof information) ? static_cast<int>(information.ssi_signo) : 0;
}

bool WaitingSignals::stop_has_come() const { return is_pending(stops_); }

void WaitingSignals::release_interrupts() const { mask_interrupts(SIG_UNBLOCK); }

void WaitingSignals::hold_interrupts() const {
  if (sigismember(&stops_, SIGINT) == 1) mask_interrupts(SIG_BLOCK);
}

void WaitingSignals::restore() const { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

}  // namespace ut::launcher
