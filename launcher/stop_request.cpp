#include "launcher/stop_request.h"

#include <csignal>

namespace ut::launcher {
namespace {

volatile std::sig_atomic_t requested = 0;  // a signal handler can reach nothing else

void note_request(int) { requested = 1; }

void change_mask(int how) {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGUSR1);
  pthread_sigmask(how, &signals, nullptr);
}

void hold_stop_requests() { change_mask(SIG_BLOCK); }

[[gnu::section(".preinit_array"), gnu::used]] void (*const before_libraries)() = hold_stop_requests;

}  // namespace

void catch_stop_requests(std::span<const int> signals) {
  std::signal(SIGUSR1, note_request);
  for (const int signal : signals) std::signal(signal, note_request);
  release_stop_requests();
}

void release_stop_requests() { change_mask(SIG_UNBLOCK); }

bool stop_requested() { return requested != 0; }

}  // namespace ut::launcher
