#include "launcher/start/relays.h"

#include <unistd.h>

#include <array>
#include <csignal>
#include <string_view>

#include "launcher/process/system_error.h"

namespace ut::launcher {

TerminalRelay::TerminalRelay(bool wanted) {
  if (!wanted) return;
  pipe_.emplace();
  ::signal(SIGPIPE, SIG_IGN);
}

void TerminalRelay::copy() {
  std::array<char, 4096> bytes{};
  const auto count = ::read(STDIN_FILENO, bytes.data(), bytes.size());
  if (count <= 0 || ::write(pipe_->writing_end(), bytes.data(), static_cast<std::size_t>(count)) != count)
    pipe_->close_writing_end();
}

OutputRelay::OutputRelay() : queue_(STDOUT_FILENO) { pipe_.do_not_wait(); }

void OutputRelay::take() {
  pipe_.read([this](std::string_view part) { queue_.add(part); });
}

void OutputRelay::check() const {
  if (queue_.failure() != 0) throw output_error(queue_.failure());
}

ErrorRelay::ErrorRelay() : queue_(STDERR_FILENO) { pipe_.do_not_wait(); }

ErrorRelay::~ErrorRelay() {
  take();
  queue_.add(errors_.rest());
  queue_.write_within(5);
}

void ErrorRelay::take() {
  pipe_.read([this](std::string_view part) { queue_.add(errors_.pass_on(part)); });
}

}  // namespace ut::launcher
