#include "launcher/process/unfinished_directory.h"

#include <fmt/format.h>

#include <system_error>

#include "base/error.h"

namespace ut::launcher {
namespace {

namespace fs = std::filesystem;

base::BadInput cannot_be_made(const fs::path& whole, const std::error_code& failure) {
  return base::BadInput("{}: cannot be made: {}", whole.string(), failure.message());
}

constexpr const char* lock_name = "lock";

/// Tries again if another process removes the directory meanwhile.
std::unique_ptr<base::FileLock> make_and_lock(const fs::path& path, const fs::path& whole) {
  std::error_code failure;
  for (int tries_left = 100; tries_left > 0; --tries_left) {
    fs::create_directories(path, failure);
    try {
      return std::make_unique<base::FileLock>(path / lock_name, std::chrono::seconds(0));
    } catch (const fs::filesystem_error& not_opened) {
      if (failure && failure != std::errc::file_exists) break;
      failure = not_opened.code();
      if (failure != std::errc::no_such_file_or_directory) break;
    }
  }
  throw cannot_be_made(whole, failure);
}

/// Removes what is in the directory but its lock.
void empty(const fs::path& path) {
  for (const fs::directory_entry& left : fs::directory_iterator(path))
    if (left.path().filename() != lock_name) fs::remove_all(left);
}

}  // namespace

UnfinishedDirectory::UnfinishedDirectory(const fs::path& whole, Whole replaces)
    : path_(whole.parent_path() / fmt::format(".{}.ut-unfinished", whole.filename().string())),
      lock_(make_and_lock(path_, whole)) {
  if (lock_->is_held_elsewhere())
    throw base::BadInput("{}: another process is making it; wait for that, or give another name", whole.string());
  try {
    empty(path_);
  } catch (const fs::filesystem_error& failure) {
    throw cannot_be_made(whole, failure.code());
  }
  if (replaces == Whole::may_be_replaced || !fs::exists(fs::symlink_status(whole))) return;
  remove();
  throw base::BadInput("{}: is there already; give another name", whole.string());
}

UnfinishedDirectory::~UnfinishedDirectory() { remove(); }

/// Another process may lock the directory anew once the lock file is gone; then the directory stays.
void UnfinishedDirectory::remove() const {
  std::error_code ignored;
  try {
    empty(path_);
  } catch (const fs::filesystem_error&) {
    return;  // the next one to make it empties it
  }
  fs::remove(path_ / lock_name, ignored);
  fs::remove(path_, ignored);
}

}  // namespace ut::launcher
