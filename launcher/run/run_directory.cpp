#include "launcher/run/run_directory.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "base/error.h"
#include "base/file.h"
#include "core/checkpoint_directory.h"
#include "launcher/options/option_record.h"
#include "launcher/options/option_sources.h"

namespace ut::launcher {
namespace {

namespace fs = std::filesystem;

base::BadInput refusal(const fs::path& path, const std::string& what) {
  return base::BadInput("--run-dir {}: {}", path.string(), what);
}

fs::path events_directory(const fs::path& run_dir) { return run_dir / "tensorboard"; }

fs::path lock_path(const fs::path& path) { return path / "lock"; }

/// The directory itself, or the nearest one above it that exists, even as a link that leads nowhere. Throws
/// std::filesystem::filesystem_error for a name that no directory can have.
fs::path nearest_existing(fs::path path) {
  path = fs::absolute(path);
  while (!fs::exists(fs::symlink_status(path)) && path.has_parent_path() && path != path.parent_path())
    path = path.parent_path();
  return path;
}

void check_writable(const fs::path& path) {
  for (const fs::path& directory : {path, checkpoint_directory(path), events_directory(path)}) {
    fs::path existing;
    try {
      existing = nearest_existing(directory);
    } catch (const fs::filesystem_error& error) {
      throw refusal(path, fmt::format("cannot be written to: {}", error.code().message()));
    }
    if (fs::is_symlink(existing) && !base::path_exists(existing))
      throw refusal(path,
                    fmt::format("{} is a link to a path that does not exist; needs a directory", existing.string()));
    if (!fs::is_directory(existing))
      throw refusal(path, fmt::format("{} is a file, a directory is needed", existing.string()));
    if (::access(existing.c_str(), W_OK | X_OK) != 0)
      throw refusal(path, fmt::format("{} cannot be written to: {}", existing.string(), std::strerror(errno)));
  }
  const fs::path records = metrics_file(path);
  if (base::path_exists(records) && !fs::is_regular_file(records))
    throw refusal(path, fmt::format("{} is no regular file, one is needed", records.string()));
  if (fs::exists(fs::symlink_status(records)) && ::access(records.c_str(), W_OK) != 0)
    throw refusal(path, fmt::format("{} cannot be written to: {}", records.string(), std::strerror(errno)));
}

bool has_checkpoints(const fs::path& path) { return !core::all_checkpoints(checkpoint_directory(path)).empty(); }

/// Whether a run came further than its first checkpoint, which follows its first score. A run that ended before has
/// nothing to go on with and nothing to lose.
bool has_records(const fs::path& path) {
  if (!base::path_exists(metrics_file(path))) return false;
  const std::string records = base::read_file(metrics_file(path));
  return records.find('\n', records.find("\"split\"")) < records.size() - 1;
}

/// Throws base::BadInput if another process holds the lock.
std::unique_ptr<base::FileLock> take_lock(const fs::path& path) {
  try {
    auto lock = std::make_unique<base::FileLock>(lock_path(path), std::chrono::seconds(0));
    if (!lock->is_held_elsewhere()) return lock;
  } catch (const fs::filesystem_error& failure) {
    throw refusal(path, fmt::format("its file lock cannot be opened: {}", failure.code().message()));
  }
  throw refusal(path, "another process trains there; wait for it, or use another directory");
}

}  // namespace

fs::path checkpoint_directory(const fs::path& run_dir) { return run_dir / "checkpoints"; }

fs::path metrics_file(const fs::path& run_dir) { return run_dir / "metrics.jsonl"; }

fs::path evaluations_file(const fs::path& run_dir) { return run_dir / "evaluations.jsonl"; }

void check_run_directory(const Options& options) {
  const fs::path path = options.run_dir;
  check_writable(path);
  if (!options.resume && has_checkpoints(path))
    throw refusal(path, fmt::format("has a run already; {}use another directory",
                                    options.command == "import" ? "" : "continue it with --resume, or "));
  if (!has_checkpoints(path) && has_records(path))
    throw refusal(path, "has the scores of a run, but its checkpoints are gone; remove the directory, or use another");
  if (options.resume && !base::path_exists(path / config_name))
    throw refusal(path, fmt::format("there is no run (no {}); to start one leave out --resume", config_name));
  if (base::path_exists(lock_path(path))) take_lock(path);
  if (options.resume && !has_checkpoints(path))
    throw refusal(path, "the run ended before its first checkpoint; to begin it anew leave out --resume");
}

RunDirectory::RunDirectory(const Options& options) : path_(options.run_dir) {
  check_run_directory(options);
  try {
    base::make_directories(checkpoints());
  } catch (const fs::filesystem_error& failure) {
    throw refusal(path_, fmt::format("cannot be written to: {}", failure.code().message()));
  }
  lock_ = take_lock(path_);
  core::remove_unfinished(checkpoints());
  base::write_file_whole(path_ / config_name, to_config(options));
}

void RunDirectory::keep(const std::vector<datasets::KeptFile>& files) const {
  for (const datasets::KeptFile& file : files) base::write_file_whole(path_ / file.name, file.content);
}

fs::path RunDirectory::events() const { return events_directory(path_); }

bool RunDirectory::is_locked() const { return lock_->is_held(); }

}  // namespace ut::launcher
