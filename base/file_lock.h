#pragma once

#include <chrono>
#include <filesystem>
#include <functional>

namespace ut::base {

/// An exclusive lock on a file or directory. The system releases it when the process ends, however that happens.
class FileLock {
 public:
  /// Locks what `open` opens or creates at `path`. Like ::open(), `open` returns a descriptor or -1; it is called again
  /// if another process has replaced or removed the file meanwhile. Waits up to `patience` for a process that has the
  /// lock. Throws std::filesystem::filesystem_error if the file cannot be opened.
  FileLock(const std::filesystem::path& path, const std::function<int()>& open, std::chrono::milliseconds patience);
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
