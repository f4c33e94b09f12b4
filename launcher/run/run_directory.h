#pragma once

#include <filesystem>
#include <memory>
#include <vector>

#include "base/file_lock.h"
#include "datasets/task.h"
#include "launcher/options/options.h"

namespace ut::launcher {

/// Where a run keeps its checkpoints.
std::filesystem::path checkpoint_directory(const std::filesystem::path& run_dir);

/// Where a run records its updates and scores.
std::filesystem::path metrics_file(const std::filesystem::path& run_dir);

/// Where the results of `ut evaluate` for a run are kept, a JSON object a line.
std::filesystem::path evaluations_file(const std::filesystem::path& run_dir);

/// Checks that training may start in the run directory; writes nothing. Throws base::BadInput if the directory cannot
/// be written to, has a run's checkpoints but --resume is not given, has none but it is given, or if another process
/// trains there.
void check_run_directory(const Options& options);

/// The directory of a run that this process trains: options.conf, metrics.jsonl, tensorboard/, checkpoints/. While it
/// lives, no other process can open the same one.
class RunDirectory {
 public:
  /// Makes what is missing, after the checks of check_run_directory(), and writes the options. Removes what an earlier
  /// run left unfinished, as far as it can. Throws what check_run_directory() throws, and std::runtime_error if the
  /// options cannot be written.
  explicit RunDirectory(const Options& options);

  /// Writes these files into the directory. Throws std::runtime_error, naming the file, if one cannot be written,
  /// base::BadInput if it is a directory.
  void keep(const std::vector<datasets::KeptFile>& files) const;

  const std::filesystem::path& path() const { return path_; }
  std::filesystem::path metrics() const { return metrics_file(path_); }
  std::filesystem::path events() const;
  std::filesystem::path checkpoints() const { return checkpoint_directory(path_); }

  /// False on a file system without locks, where a second process would not be noticed.
  bool is_locked() const;

 private:
  std::filesystem::path path_;
  std::unique_ptr<base::FileLock> lock_;
};

}  // namespace ut::launcher
