#pragma once

#include <filesystem>
#include <string_view>

namespace ut::launcher {

/// A file that a run appends to. It is made again if somebody removes it meanwhile.
class AppendedFile {
 public:
  /// Makes the file if it is not there. Throws std::runtime_error, naming it, if it cannot be written.
  explicit AppendedFile(std::filesystem::path path);
  AppendedFile(const AppendedFile&) = delete;
  AppendedFile& operator=(const AppendedFile&) = delete;
  ~AppendedFile();

  /// Hands the bytes to the system at once. Throws std::runtime_error, naming the file, if it does not take them.
  void append(std::string_view bytes);
  /// Returns when all of the file is on the disk. Throws like append().
  void sync() const;
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
  int descriptor_;
};

}  // namespace ut::launcher
