#include "base/file_lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>
#include <thread>

namespace ut::base {
namespace {

bool is_still_at(const std::filesystem::path& path, int descriptor) {
  struct stat opened {};
  struct stat there {};
  return ::fstat(descriptor, &opened) == 0 && ::stat(path.c_str(), &there) == 0 && opened.st_dev == there.st_dev &&
         opened.st_ino == there.st_ino;
}

}  // namespace

FileLock::FileLock(const std::filesystem::path& path, std::chrono::milliseconds patience) {
  using Clock = std::chrono::steady_clock;
  constexpr mode_t as_the_umask_says = 0666;
  const auto deadline = Clock::now() + patience;
  for (int most_changes = 1000; most_changes > 0;) {
    descriptor_ = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, as_the_umask_says);
    if (descriptor_ < 0)
      throw std::filesystem::filesystem_error("open", path, std::error_code(errno, std::generic_category()));
    is_held_ = ::flock(descriptor_, LOCK_EX | LOCK_NB) == 0;
    is_held_elsewhere_ = !is_held_ && errno == EWOULDBLOCK;
    if (is_held_ && is_still_at(path, descriptor_)) return;
    if (!is_held_ && (!is_held_elsewhere_ || Clock::now() >= deadline)) return;
    if (is_held_elsewhere_)
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    else
      --most_changes;  // another process has replaced or removed the file meanwhile
    ::close(descriptor_);
  }
  descriptor_ = -1;  // a file that looks replaced every time is on a system without usable locks
  is_held_ = false;
}

FileLock::~FileLock() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

}  // namespace ut::base
