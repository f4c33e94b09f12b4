#include "launcher/start/output_queue.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>

namespace ut::launcher {
namespace {

constexpr std::size_t full = std::size_t{1} << 20;  // bytes
constexpr std::size_t at_once = 4096;               // which a pipe that takes any takes without waiting

}  // namespace

void OutputQueue::add(std::string_view text) {
  if (failure_ == 0) waiting_ += text;
}

bool OutputQueue::is_full() const { return waiting_.size() >= full; }

void OutputQueue::write_some() {
  const auto written = ::write(stream_, waiting_.data(), std::min(waiting_.size(), at_once));
  if (written >= 0)
    waiting_.erase(0, static_cast<std::size_t>(written));
  else if (errno != EAGAIN && errno != EINTR)
    give_up(errno);
}

void OutputQueue::write_all() {
  while (!is_empty()) {
    pollfd stream = question();
    ::poll(&stream, 1, -1);
    write_some();
  }
}

void OutputQueue::give_up(int failure) {
  waiting_.clear();
  failure_ = failure;
}

}  // namespace ut::launcher
