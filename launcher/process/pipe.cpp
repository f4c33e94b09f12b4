#include "launcher/process/pipe.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "launcher/process/system_error.h"

namespace ut::launcher {
namespace {

void close_if_open(int& end) {
  if (end >= 0) ::close(std::exchange(end, -1));
}

}  // namespace

Pipe::Pipe() {
  if (::pipe2(ends_.data(), O_CLOEXEC) != 0) throw system_error("pipe");
}

Pipe::~Pipe() {
  for (int& end : ends_) close_if_open(end);
}

void Pipe::close_writing_end() { close_if_open(ends_[1]); }

void Pipe::do_not_wait() { ::fcntl(ends_[0], F_SETFL, O_NONBLOCK); }

void Pipe::read(const std::function<void(std::string_view)>& visit) {
  std::array<char, 4096> bytes{};
  while (ends_[0] >= 0) {
    const auto count = ::read(ends_[0], bytes.data(), bytes.size());
    if (count > 0) visit(std::string_view(bytes.data(), static_cast<std::size_t>(count)));
    if (count == 0) close_if_open(ends_[0]);
    if (count < 0 && errno != EINTR) return;
  }
}

}  // namespace ut::launcher
