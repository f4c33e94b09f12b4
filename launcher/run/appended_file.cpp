#include "launcher/run/appended_file.h"

#include <fcntl.h>
#include <fmt/format.h>
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

std::runtime_error cannot_write(const std::filesystem::path& path) {
  return std::runtime_error(fmt::format("{}: cannot be written: {}", path.string(), std::strerror(errno)));
}

}  // namespace

AppendedFile::AppendedFile(std::filesystem::path path) : path_(std::move(path)), descriptor_(open_to_append(path_)) {
  if (descriptor_ < 0) throw cannot_write(path_);
}

AppendedFile::~AppendedFile() { ::close(descriptor_); }

void AppendedFile::append(std::string_view bytes) {
  while (!bytes.empty()) {
    const auto count = ::write(descriptor_, bytes.data(), bytes.size());
    if (count < 0 && errno != EINTR) throw cannot_write(path_);
    if (count > 0) bytes.remove_prefix(static_cast<std::size_t>(count));
  }
}

}  // namespace ut::launcher
