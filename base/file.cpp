#include "base/file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <fstream>
#include <optional>

#include "base/error.h"
#include "base/file_lock.h"

namespace ut::base {

namespace {

/// The file that a link leads to, through further links; the path itself if it is no link.
std::filesystem::path where_it_leads(std::filesystem::path path) {
  constexpr int most_links = 40;  // as many as Linux follows
  std::error_code ignored;
  for (int links = 0; links < most_links && std::filesystem::is_symlink(path, ignored); ++links)
    path = path.parent_path() / std::filesystem::read_symlink(path);
  return path;
}

std::filesystem::path directory_of(const std::filesystem::path& path) {
  return path.has_parent_path() ? path.parent_path() : std::filesystem::path(".");
}

}  // namespace

bool path_exists(const std::filesystem::path& path) {
  std::error_code ignored;
  return std::filesystem::exists(path, ignored);
}

bool path_exists_checked(const std::filesystem::path& path) {
  std::error_code failure;
  const bool exists = std::filesystem::exists(path, failure);
  if (failure) throw BadInput("{}: cannot be read: {}", path.string(), failure.message());
  return exists;
}

std::string describe(const std::filesystem::filesystem_error& error) {
  return fmt::format("{}: {}", error.path1().string(), error.code().message());
}

std::string read_file(const std::filesystem::path& path) {
  std::error_code code;
  if (!path_exists_checked(path)) throw BadInput("{}: no such file", path.string());
  if (std::filesystem::is_directory(path, code)) throw BadInput("{}: is a directory, a file is needed", path.string());
  // Opening a named pipe could wait for ever. A pipe that a shell has opened already (`<(command)`) has no path of its
  // own, so that canonical() fails.
  if (std::filesystem::is_fifo(path, code) && !std::filesystem::canonical(path, code).empty() && !code)
    throw BadInput("{}: is a named pipe, a file is needed", path.string());
  std::ifstream stream(path, std::ios::binary);
  std::string content;
  if (const auto size = std::filesystem::file_size(path, code); !code) content.reserve(size);  // 0 for a pipe
  std::array<char, 1 << 16> piece{};
  while (stream.read(piece.data(), piece.size()), stream.gcount() > 0)
    content.append(piece.data(), static_cast<std::size_t>(stream.gcount()));
  if (!stream.is_open() || stream.bad()) throw BadInput("{}: cannot be read: {}", path.string(), std::strerror(errno));
  return content;
}

std::string read_file(const std::filesystem::path& path, const std::string& option, const std::string& needed) {
  try {
    if (path_exists_checked(path)) return read_file(path);
  } catch (const BadInput& refused) {
    throw BadInput("{} {}", option, refused.what());
  }
  throw BadInput("{} {}: no such file, needs {}", option, path.string(), needed);
}

void sync_to_disk(const std::filesystem::path& path) {
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  // EINVAL: a directory on a system that cannot sync directories
  const bool synced = descriptor >= 0 && (::fsync(descriptor) == 0 || errno == EINVAL);
  const int cause = errno;
  if (descriptor >= 0) ::close(descriptor);
  if (!synced) throw std::runtime_error(fmt::format("{}: cannot be synced: {}", path.string(), std::strerror(cause)));
}

std::filesystem::path unfinished_beside(const std::filesystem::path& file) {
  return file.parent_path() / fmt::format(".{}.tmp", file.filename().string());
}

void write_file_whole(const std::filesystem::path& given, const std::string& content) {
  std::error_code ignored;
  if (std::filesystem::is_directory(given, ignored))
    throw BadInput("{}: is a directory, a file is needed", given.string());
  const auto path = where_it_leads(given);
  const auto beside = unfinished_beside(path);
  const auto cannot_be_written = [&path](int cause) {
    return std::runtime_error(fmt::format("{}: cannot be written: {}", path.string(), std::strerror(cause)));
  };
  std::optional<FileLock> lock;  // processes that write the same file take turns
  try {
    lock.emplace(beside, std::chrono::seconds(60));
  } catch (const std::filesystem::filesystem_error& failure) {
    throw cannot_be_written(failure.code().value());
  }
  if (lock->is_held_elsewhere())
    throw std::runtime_error(fmt::format("{}: cannot be written: another process is still writing it", path.string()));
  std::ofstream stream(beside, std::ios::binary | std::ios::trunc);
  stream << content;
  stream.close();  // some file systems report only now that there was no room
  const bool written = stream.good();
  const int cause = errno;
  if (!written) {
    std::filesystem::remove(beside, ignored);
    throw cannot_be_written(cause);
  }
  sync_to_disk(beside);
  std::filesystem::rename(beside, path);
  sync_to_disk(directory_of(path));
}

void make_directories(const std::filesystem::path& path) {
  if (std::filesystem::is_directory(path)) return;
  const std::filesystem::path above = directory_of(path);
  make_directories(above);
  if (std::filesystem::create_directory(path)) sync_to_disk(above);
}

}  // namespace ut::base
