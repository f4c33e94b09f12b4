#include "launcher/process/unfinished_directory.h"

#include <fcntl.h>
#include <fmt/format.h>

#include <system_error>

#include "base/error.h"

namespace ut::launcher {
namespace {

namespace fs = std::filesystem;

base::BadInput cannot_be_made(const fs::path& whole, const std::error_code& failure) {
  return base::BadInput(fmt::format("{}: cannot be made: {}", whole.string(), failure.message()));
}

int make_and_open(const fs::path& path, const fs::path& whole) {
  std::error_code failure;
  fs::create_directories(path, failure);
  if (failure) throw cannot_be_made(whole, failure);
  return ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

}  // namespace

UnfinishedDirectory::UnfinishedDirectory(const fs::path& whole)
    : path_(whole.parent_path() / fmt::format(".{}.ut-unfinished", whole.filename().string())),
      lock_(
          path_, [&] { return make_and_open(path_, whole); }, base::FileLock::Wait::no) {
  if (lock_.is_of_another())
    throw base::BadInput(
        fmt::format("{}: another process is making it; wait for that, or give another name", whole.string()));
  std::error_code failure;
  for (const fs::directory_entry& left : fs::directory_iterator(path_, failure)) fs::remove_all(left, failure);
  if (failure) throw cannot_be_made(whole, failure);
  if (!fs::exists(fs::symlink_status(whole))) return;
  fs::remove(path_, failure);
  throw base::BadInput(fmt::format("{}: is there already; give another name", whole.string()));
}

UnfinishedDirectory::~UnfinishedDirectory() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

}  // namespace ut::launcher
