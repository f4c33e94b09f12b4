#include "launcher/process/standard_input.h"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

#include "base/error.h"
#include "base/file.h"

namespace ut::launcher {
namespace {

base::BadInput unreadable(int cause) {
  return base::BadInput("standard input: cannot be read: {}", std::strerror(cause));
}

/// Waits for input and appends some of it. Returns whether there was any: false at the end.
bool append_some(std::string& typed) {
  std::array<char, 1 << 16> bytes{};
  for (pollfd input{STDIN_FILENO, POLLIN, 0};;) {
    ::poll(&input, 1, -1);  // another process may have made it non-blocking
    const auto count = ::read(STDIN_FILENO, bytes.data(), bytes.size());
    if (count > 0) typed.append(bytes.data(), static_cast<std::size_t>(count));
    if (count >= 0) return count > 0;
    if (errno != EINTR && errno != EAGAIN) throw unreadable(errno);
  }
}

}  // namespace

std::string read_standard_input() {
  std::string typed;
  while (append_some(typed)) {
  }
  return typed;
}

std::optional<std::string> StandardInputLines::next() {
  bool has_ended = false;
  std::size_t end = unread_.find('\n');
  while (end == std::string::npos && !has_ended) {
    const std::size_t searched = unread_.size();
    has_ended = !append_some(unread_);
    end = unread_.find('\n', searched);
  }
  if (unread_.empty()) return std::nullopt;
  const std::string line = unread_.substr(0, end);
  unread_.erase(0, end == std::string::npos ? end : end + 1);
  return std::string(std::exchange(is_first_, false) ? base::without_byte_order_mark(line) : line);
}

void check_standard_input() {
  const int flags = ::fcntl(STDIN_FILENO, F_GETFL);
  if (flags < 0 || (flags & O_ACCMODE) == O_WRONLY) throw unreadable(EBADF);
}

}  // namespace ut::launcher
