#include "launcher/process/standard_input.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "base/error.h"

namespace ut::launcher {
namespace {

base::BadInput unreadable(int cause) {
  return base::BadInput(fmt::format("standard input: cannot be read: {}", std::strerror(cause)));
}

}  // namespace

std::string read_standard_input() {
  std::string typed;
  std::array<char, 1 << 16> bytes{};
  for (pollfd input{STDIN_FILENO, POLLIN, 0};;) {
    ::poll(&input, 1, -1);  // another process may have made it non-blocking
    const auto count = ::read(STDIN_FILENO, bytes.data(), bytes.size());
    if (count == 0) return typed;
    if (count > 0) typed.append(bytes.data(), static_cast<std::size_t>(count));
    if (count < 0 && errno != EINTR && errno != EAGAIN) throw unreadable(errno);
  }
}

void check_standard_input() {
  const int flags = ::fcntl(STDIN_FILENO, F_GETFL);
  if (flags < 0 || (flags & O_ACCMODE) == O_WRONLY) throw unreadable(EBADF);
}

}  // namespace ut::launcher
