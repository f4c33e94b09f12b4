#include "launcher/start/relays.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <string_view>
#include <utility>

#include "launcher/process/signal_set.h"

namespace ut::launcher {
namespace {

void close_if_open(int& descriptor) {
  if (descriptor >= 0) ::close(std::exchange(descriptor, -1));
}

void wait_for_room() {
  pollfd output{STDOUT_FILENO, POLLOUT, 0};
  ::poll(&output, 1, -1);
}

void put(const std::string& text) { std::fwrite(text.data(), 1, text.size(), stderr); }

}  // namespace

std::runtime_error system_error(const std::string& what, int error) {
  return std::runtime_error(fmt::format("{}: {}", what, std::strerror(error)));
}

std::runtime_error output_error(int error) { return system_error("standard output: cannot be written", error); }

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

void WaitingSignals::restore() const { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

TerminalRelay::TerminalRelay(bool wanted) {
  if (!wanted) return;
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) throw system_error("pipe");
  reading_ = ends[0];
  writing_ = ends[1];
  ::signal(SIGPIPE, SIG_IGN);
}

TerminalRelay::~TerminalRelay() {
  close_if_open(reading_);
  close_if_open(writing_);
}

void TerminalRelay::copy() {
  std::array<char, 4096> bytes{};
  const auto count = ::read(STDIN_FILENO, bytes.data(), bytes.size());
  if (count <= 0 || ::write(writing_, bytes.data(), static_cast<std::size_t>(count)) != count) close_if_open(writing_);
}

PipeFromChild::PipeFromChild() {
  if (::pipe2(ends_.data(), O_CLOEXEC) != 0) throw system_error("pipe");
  ::fcntl(ends_[0], F_SETFL, O_NONBLOCK);
}

PipeFromChild::~PipeFromChild() {
  for (int& end : ends_) close_if_open(end);
}

void PipeFromChild::close_writing_end() { close_if_open(ends_[1]); }

void PipeFromChild::read(const std::function<void(std::string_view)>& visit) {
  std::array<char, 4096> bytes{};
  for (;;) {
    const auto count = ends_[0] < 0 ? 0 : ::read(ends_[0], bytes.data(), bytes.size());
    if (count == 0) close_if_open(ends_[0]);  // nobody writes any more
    if (count <= 0) return;
    visit(std::string_view(bytes.data(), static_cast<std::size_t>(count)));
  }
}

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

ErrorRelay::~ErrorRelay() {
  copy();
  put(errors_.rest());
}

void ErrorRelay::copy() {
  pipe_.read([this](std::string_view part) { put(errors_.pass_on(part)); });
}

}  // namespace ut::launcher
