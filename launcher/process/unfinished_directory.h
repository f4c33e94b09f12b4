#pragma once

#include <filesystem>
#include <memory>

#include "base/file_lock.h"

namespace ut::launcher {

/// A directory beside `whole` for what is not whole yet, with a name that nobody else uses (`.NAME.ut-unfinished`).
/// What is whole is renamed out of it. It is removed at the end of its scope; if a killed process has left one, it is
/// emptied at the start.
class UnfinishedDirectory {
 public:
  enum class Whole : bool { must_be_new, may_be_replaced };

  /// Throws base::BadInput if it cannot be made, another process has it, or `whole` is there already and must be new.
  explicit UnfinishedDirectory(const std::filesystem::path& whole, Whole replaces = Whole::must_be_new);
  ~UnfinishedDirectory();
  UnfinishedDirectory(const UnfinishedDirectory&) = delete;
  UnfinishedDirectory& operator=(const UnfinishedDirectory&) = delete;

  std::filesystem::path operator/(const char* name) const { return path_ / name; }

 private:
  void remove() const;

  std::filesystem::path path_;
  std::unique_ptr<base::FileLock> lock_;
};

}  // namespace ut::launcher
