#pragma once

#include <chrono>
#include <filesystem>
#include <functional>

namespace ut::base {

/// The lock of a file or directory, which the system gives back when the process ends, however that is.
class FileLock {
 public:
  /// Takes the lock of what `open` opens, or makes, at `path`: a descriptor or, as ::open() has it, -1. It is opened
  /// again where another process has put or taken it away meanwhile. Waits so long for a process that has the lock.
  /// Throws std::filesystem::filesystem_error where it cannot be opened.
  FileLock(const std::filesystem::path& path, const std::function<int()>& open, std::chrono::milliseconds patience);
  FileLock(const FileLock&) = delete;
  FileLock& operator=(const FileLock&) = delete;
  ~FileLock();

  /// Neither this nor the next on a file system without locks.
  bool is_held() const { return is_held_; }
  bool is_of_another() const { return is_of_another_; }

 private:
  int descriptor_ = -1;
  bool is_held_ = false;
  bool is_of_another_ = false;
};

}  // namespace ut::base
