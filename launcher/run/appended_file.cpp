#include "launcher/run/appended_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <stdexcept>
#include <utility>

namespace ut::launcher {
namespace {

int open_to_append(const std::filesystem::path& path) {
  constexpr mode_t as_the_umask_says = 0666;
  return ::open(path.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, as_the_umask_says);
}

bool is_removed(int descriptor) {
  struct stat file {};
  return ::fstat(descriptor, &file) == 0 && file.st_nlink == 0;
}

std::runtime_error cannot_write(const std::filesystem::path& path) {
  return std::runtime_error(fmt::format("{}: cannot be written: {}", path.string(), std::strerror(errno)));
}

}  // namespace

AppendedFile::AppendedFile(std::filesystem::path path) : path_(std::move(path)), descriptor_(open_to_append(path_)) {
  if (descriptor_ < 0) throw cannot_write(path_);
}

AppendedFile::~AppendedFile() { ::close(descriptor_); }

void AppendedFile::append(std::string_view bytes) {
  if (is_removed(descriptor_)) {  // nobody would find what is written there
    ::close(descriptor_);
    descriptor_ = open_to_append(path_);
    if (descriptor_ < 0) throw cannot_write(path_);
  }
  while (!bytes.empty()) {
    const auto count = ::write(descriptor_, bytes.data(), bytes.size());
    if (count < 0 && errno != EINTR) throw cannot_write(path_);
    if (count > 0) bytes.remove_prefix(static_cast<std::size_t>(count));
  }
}

void AppendedFile::sync() const {
  if (::fdatasync(descriptor_) != 0 && errno != EINVAL) throw cannot_write(path_);  // EINVAL: a system that cannot
}

}  // namespace ut::launcher
