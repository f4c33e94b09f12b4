#include "launcher/process/library_signals.h"

#include <array>
#include <csignal>

namespace ut::launcher {
namespace {

struct Disposition {
  int signal = 0;
  struct sigaction action {};
};

std::array<Disposition, 5> dispositions = {{{SIGHUP}, {SIGSEGV}, {SIGBUS}, {SIGILL}, {SIGFPE}}};

void remember_signals() {
  for (auto& [signal, action] : dispositions) ::sigaction(signal, nullptr, &action);
}

[[gnu::section(".preinit_array"), gnu::used]] void (*const remember_before_libraries)() = remember_signals;

}  // namespace

void restore_signals() {
  for (const auto& [signal, action] : dispositions) ::sigaction(signal, &action, nullptr);
}

}  // namespace ut::launcher
