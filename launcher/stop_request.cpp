#include "launcher/stop_request.h"

#include <csignal>

namespace ut::launcher {
namespace {

volatile std::sig_atomic_t requested = 0;  // a signal handler can reach nothing else

void note_request(int) { requested = 1; }

}  // namespace

void catch_stop_requests(std::span<const int> signals) {
  std::signal(SIGUSR1, note_request);
  for (const int signal : signals) std::signal(signal, note_request);
}

bool stop_requested() { return requested != 0; }

}  // namespace ut::launcher
