#include "base/file_lock.h"

#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

namespace ut::base {
namespace {

bool is_still_at(const std::filesystem::path& path, int descriptor) {
  struct stat opened {};
  struct stat there {};
  return ::fstat(descriptor, &opened) == 0 && ::stat(path.c_str(), &there) == 0 && opened.st_dev == there.st_dev &&
         opened.st_ino == there.st_ino;
}

int lock(int descriptor, int how) {
  int failed = 0;
  do failed = ::flock(descriptor, how);
  while (failed != 0 && errno == EINTR);
  return failed;
}

}  // namespace

FileLock::FileLock(const std::filesystem::path& path, const std::function<int()>& open, Wait wait) {
  for (;;) {
    descriptor_ = open();
    if (descriptor_ < 0)
      throw std::filesystem::filesystem_error("open", path, std::error_code(errno, std::generic_category()));
    is_held_ = lock(descriptor_, wait == Wait::no ? LOCK_EX | LOCK_NB : LOCK_EX) == 0;
    is_of_another_ = !is_held_ && errno == EWOULDBLOCK;
    if (!is_held_ || is_still_at(path, descriptor_)) return;
    ::close(descriptor_);
  }
}

FileLock::~FileLock() { ::close(descriptor_); }

}  // namespace ut::base
