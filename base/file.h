#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace ut::base {

/// Whether there is such a file or directory. What cannot be looked at, as where its name is too long, is not there.
bool is_there(const std::filesystem::path& path);

/// The same, but throws BadInput where the path cannot be looked at, as in a directory that may not be entered.
bool is_seen_there(const std::filesystem::path& path);

/// What the system says of a file or directory that it refuses, in a line that names it.
std::string describe(const std::filesystem::filesystem_error& error);

/// The whole of a file. Throws BadInput, naming the file, where it is missing, a directory or unreadable.
std::string read_file(const std::filesystem::path& path);

/// The same of one that an option names, which needs such a file.
std::string read_file(const std::filesystem::path& path, const std::string& option, const std::string& needed);

/// The text without the byte order mark that some editors put before it.
inline std::string_view without_byte_order_mark(std::string_view text) {
  if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);
  return text;
}

/// Where a file is written before it takes its place: hidden beside it, under the same name each time, so that what a
/// kill has left is written over.
std::filesystem::path unfinished_beside(const std::filesystem::path& file);

/// Writes beside `path`, syncs, and renames: at any kill the file is the old one or the new one, whole. Where `path` is
/// a link, this is done where it leads. Of processes that write the same file, one does after the other.
/// Throws std::runtime_error naming the file where it cannot be written, BadInput where it is a directory.
void write_file_whole(const std::filesystem::path& path, const std::string& content);

/// Makes a directory, and those above it that are missing, so that they are there after a loss of power, too.
/// Throws std::filesystem::filesystem_error, std::runtime_error where one cannot be synced.
void make_directories(const std::filesystem::path& path);

/// Flushes a written file or directory to the disk. Throws std::runtime_error.
void sync_to_disk(const std::filesystem::path& path);

}  // namespace ut::base
