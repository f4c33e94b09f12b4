#pragma once

#include <chrono>
#include <filesystem>

namespace ut::base {

/// An exclusive lock on a file. The system releases it when the process ends, however that happens.
class FileLock {
 public:
  /// Locks the file at `path`, and makes it if it is not there. Waits up to `patience` for a process that has the lock.
  /// Throws std::filesystem::filesystem_error if the file cannot be opened for writing, which network file systems
  /// need.
  FileLock(const std::filesystem::path& path, std::chrono::milliseconds patience);
  FileLock(const FileLock&) = delete;
  FileLock& operator=(const FileLock&) = delete;
  ~FileLock();

  /// Whether this object, or somebody else, has the lock. Both are false on a file system without locks.
  bool is_held() const { return is_held_; }
  bool is_held_elsewhere() const { return is_held_elsewhere_; }

 private:
  int descriptor_ = -1;
  bool is_held_ = false;
  bool is_held_elsewhere_ = false;
};

}  // namespace ut::base
