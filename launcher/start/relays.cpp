#include "launcher/start/relays.h"

#include <poll.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <string_view>

#include "launcher/process/system_error.h"

namespace ut::launcher {
namespace {

void wait_for_room() {
  pollfd output{STDOUT_FILENO, POLLOUT, 0};
  ::poll(&output, 1, -1);
}

void put(const std::string& text) { std::fwrite(text.data(), 1, text.size(), stderr); }

}  // namespace

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

OutputRelay::OutputRelay() { pipe_.do_not_wait(); }

void OutputRelay::copy() {
  pipe_.read([this](std::string_view part) {
    while (!part.empty() && failure_ == 0) {
      const auto written = ::write(STDOUT_FILENO, part.data(), part.size());
      if (written >= 0)
        part.remove_prefix(static_cast<std::size_t>(written));
      else if (errno == EAGAIN)
        wait_for_room();  // somebody else has made it non-blocking
      else if (errno != EINTR)
        failure_ = errno;
    }
  });
}

void OutputRelay::check() const {
  if (failure_ != 0) throw output_error(failure_);
}

ErrorRelay::ErrorRelay() { pipe_.do_not_wait(); }

ErrorRelay::~ErrorRelay() {
  copy();
  put(errors_.rest());
}

void ErrorRelay::copy() {
  pipe_.read([this](std::string_view part) { put(errors_.pass_on(part)); });
}

}  // namespace ut::launcher
