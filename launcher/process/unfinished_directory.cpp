#include "launcher/process/unfinished_directory.h"

#include <fmt/format.h>

#include <system_error>

#include "base/error.h"

namespace ut::launcher {

UnfinishedDirectory::UnfinishedDirectory(const std::filesystem::path& whole)
    : path_(whole.parent_path() / fmt::format(".{}.ut-unfinished", whole.filename().string())) {
  std::error_code failure;
  std::filesystem::remove_all(path_, failure);
  std::filesystem::create_directories(path_, failure);
  if (failure) throw base::BadInput(fmt::format("{}: cannot be made: {}", whole.string(), failure.message()));
}

UnfinishedDirectory::~UnfinishedDirectory() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

}  // namespace ut::launcher
