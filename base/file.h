#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace ut::base {

/// Whether there is such a file or directory. False also if the path cannot be examined, as when its name is too long.
bool path_exists(const std::filesystem::path& path);

/// The same, but throws BadInput if the path cannot be examined, as in a directory that may not be entered.
bool path_exists_checked(const std::filesystem::path& path);

/// The path and the system's message of a file or directory that it refuses, in one line: `path: message`.
std::string describe(const std::filesystem::filesystem_error& error);

/// The whole of a file. Throws BadInput, naming the file, if it is missing, a directory, a named pipe or unreadable.
std::string read_file(const std::filesystem::path& path);

/// The same for a file that an option names. Messages also name the option and, if the file is missing, say what is
/// `needed`.
std::string read_file(const std::filesystem::path& path, const std::string& option, const std::string& needed);

/// The text without the byte order mark that some editors put before it.
inline std::string_view without_byte_order_mark(std::string_view text) {
  if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);
  return text;
}

/// The temporary path at which `file` is written: hidden, in the same directory, and always under the same name, so
/// that a file left by a killed process is overwritten.
std::filesystem::path unfinished_beside(const std::filesystem::path& file);

/// Writes a temporary file beside `path`, syncs it and renames it: whenever the process is killed, the file is the old
/// one or the new one, whole. If `path` is a symbolic link, writes the file that it leads to. Processes that write the
/// same file take turns; each waits up to 60 s.
/// Throws std::runtime_error naming the file if it cannot be written, BadInput if it is a directory.
void write_file_whole(const std::filesystem::path& path, const std::string& content);

/// Makes a directory and its missing parents, and syncs them, so that they survive a loss of power.
/// Throws std::filesystem::filesystem_error, or std::runtime_error if a directory cannot be synced.
void make_directories(const std::filesystem::path& path);

/// Flushes a written file or directory to the disk. Throws std::runtime_error.
void sync_to_disk(const std::filesystem::path& path);

}  // namespace ut::base
