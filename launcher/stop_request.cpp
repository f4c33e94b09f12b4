#include "launcher/stop_request.h"

#include <csignal>
#include <initializer_list>

namespace ut::launcher {
namespace {

volatile std::sig_atomic_t requested = 0;  // a signal handler can reach nothing else

void note_request(int) { requested = 1; }

}  // namespace

void catch_stop_requests() {
  for (const int signal : {SIGTERM, SIGUSR1, SIGINT}) std::signal(signal, note_request);
}

bool stop_requested() { return requested != 0; }

}  // namespace ut::launcher
