#include "launcher/process/unfinished_directory.h"

#include <fcntl.h>
#include <fmt/format.h>

#include <cerrno>
#include <system_error>

#include "base/error.h"

namespace ut::launcher {
namespace {

namespace fs = std::filesystem;

base::BadInput cannot_be_made(const fs::path& whole, const std::error_code& failure) {
  return base::BadInput("{}: cannot be made: {}", whole.string(), failure.message());
}

/// Tries again if another process removes the directory before it is opened.
int make_and_open(const fs::path& path, const fs::path& whole) {
  constexpr int most_tries = 100;
  std::error_code failure;
  for (int tries = 0; tries < most_tries; ++tries) {
    fs::create_directories(path, failure);
    const int descriptor = ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (descriptor >= 0) return descriptor;
    const std::error_code why(errno, std::generic_category());
    if (failure && failure != std::errc::file_exists) break;
    failure = why;
    if (why != std::errc::no_such_file_or_directory) break;
  }
  throw cannot_be_made(whole, failure);
}

void empty(const fs::path& path, const fs::path& whole) {
  try {
    for (const fs::directory_entry& left : fs::directory_iterator(path)) fs::remove_all(left);
  } catch (const fs::filesystem_error& failure) {
    throw cannot_be_made(whole, failure.code());
  }
}

}  // namespace

UnfinishedDirectory::UnfinishedDirectory(const fs::path& whole)
    : path_(whole.parent_path() / fmt::format(".{}.ut-unfinished", whole.filename().string())),
      lock_(
          path_, [&] { return make_and_open(path_, whole); }, std::chrono::seconds(0)) {
  if (lock_.is_held_elsewhere())
    throw base::BadInput("{}: another process is making it; wait for that, or give another name", whole.string());
  empty(path_, whole);
  if (!fs::exists(fs::symlink_status(whole))) return;
  std::error_code ignored;
  fs::remove(path_, ignored);
  throw base::BadInput("{}: is there already; give another name", whole.string());
}

UnfinishedDirectory::~UnfinishedDirectory() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

}  // namespace ut::launcher
