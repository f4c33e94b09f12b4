#include "launcher/start/output_queue.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>

#include "launcher/process/stopwatch.h"

namespace ut::launcher {
namespace {

constexpr std::size_t full = std::size_t{1} << 20;  // bytes
// Bytes. A pipe that takes any takes so many without waiting.
constexpr std::size_t at_once = 4096;

/// A pipe or a terminal opened anew, not to be waited for: if the stream itself were set so, nobody who has it would
/// wait any more. -1 if it cannot be opened anew. Files and sockets take what they are given soon enough.
int opened_anew(int stream) {
  struct stat what {};
  const bool may_be_held = ::fstat(stream, &what) == 0 && (S_ISFIFO(what.st_mode) || ::isatty(stream) == 1);
  if (!may_be_held) return -1;
  return ::open(fmt::format("/proc/self/fd/{}", stream).c_str(), O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
}

}  // namespace

OutputQueue::OutputQueue(int stream) : reopened_(opened_anew(stream)), stream_(reopened_ >= 0 ? reopened_ : stream) {}

OutputQueue::~OutputQueue() {
  if (reopened_ >= 0) ::close(reopened_);
}

void OutputQueue::add(std::string_view text) {
  if (failure_ == 0) waiting_ += text;
}

bool OutputQueue::is_full() const { return waiting_.size() >= full; }

void OutputQueue::write_some() {
  for (pollfd stream = poll_request(); !is_empty() && ::poll(&stream, 1, 0) == 1;) {
    const auto written = ::write(stream_, waiting_.data(), std::min(waiting_.size(), at_once));
    if (written >= 0)
      waiting_.erase(0, static_cast<std::size_t>(written));
    else if (errno == EAGAIN)
      return;
    else if (errno != EINTR)
      give_up(errno);
  }
}

void OutputQueue::write_within(int seconds) {
  constexpr int moment = 100;  // milliseconds
  for (const Stopwatch watch; !is_empty() && watch.seconds() < seconds;) {
    pollfd stream = poll_request();
    ::poll(&stream, 1, moment);
    write_some();
  }
}

void OutputQueue::give_up(int failure) {
  waiting_.clear();
  failure_ = failure;
}

}  // namespace ut::launcher
