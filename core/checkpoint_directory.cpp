#include "core/checkpoint_directory.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <system_error>
#include <utility>

#include "base/counted.h"
#include "base/error.h"
#include "base/file.h"
#include "base/parse_number.h"

namespace ut::core {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view name_prefix = "update-";
constexpr std::array<const char*, 2> pointers{"latest", "best"};

/// The checkpoint's name that a pointer holds.
std::string named_by(const fs::path& pointer) {
  std::string name = base::read_file(pointer);
  name.erase(name.find_last_not_of(" \n\r\t") + 1);
  return name;
}

/// The checkpoint of this name, which a person or a pointer gave; empty if there is none.
fs::path checkpoint_called(const fs::path& directory, const std::string& name) {
  std::error_code unusable;  // such as a name that is too long for a file's
  return update_of(name) && fs::is_directory(directory / name, unusable) ? directory / name : fs::path();
}

/// Names a few checkpoints that a person may ask for instead.
std::string suggestions(const fs::path& directory) {
  constexpr std::size_t shown = 5;
  std::vector<std::string> names;
  for (const char* pointer : pointers)
    if (base::path_exists(directory / pointer) && !checkpoint_called(directory, named_by(directory / pointer)).empty())
      names.emplace_back(pointer);
  const std::size_t most = names.size() + shown;
  for (const fs::path& found : all_checkpoints(directory))
    if (names.size() < most) names.push_back(found.filename().string());
  return names.empty() ? "there is none" : fmt::format("give {}", fmt::join(names, ", "));
}

/// For what is no longer a checkpoint. It may stay, for example if another process reads it over NFS; the next start
/// tries again.
void remove_if_possible(const fs::path& directory) {
  std::error_code ignored;
  fs::remove_all(directory, ignored);
}

/// An unused name that says that the checkpoint is being removed. What an earlier removal could not remove keeps its
/// name.
fs::path free_name_beside(const fs::path& checkpoint) {
  for (int number = 0;; ++number) {
    fs::path aside = checkpoint;
    aside += fmt::format(".old{}{}", number == 0 ? "" : fmt::format(".{}", number), unfinished);
    remove_if_possible(aside);
    if (!base::path_exists(aside)) return aside;
  }
}

}  // namespace

std::string checkpoint_name(std::int64_t update) { return fmt::format("{}{:08d}", name_prefix, update); }

std::optional<std::int64_t> update_of(std::string_view name) {
  if (!name.starts_with(name_prefix)) return std::nullopt;
  name.remove_prefix(name_prefix.size());
  return name.starts_with('-') ? std::nullopt : base::parse_number<std::int64_t>(name);
}

bool is_earlier(const fs::path& checkpoint, const fs::path& other) {
  return update_of(checkpoint.filename().string()) < update_of(other.filename().string());
}

std::vector<fs::path> all_checkpoints(const fs::path& directory) {
  std::vector<fs::path> found;
  if (!fs::is_directory(directory)) return found;
  for (const auto& entry : fs::directory_iterator(directory)) {
    const std::string name = entry.path().filename().string();
    const auto update = update_of(name);
    if (entry.is_directory() && update && name == checkpoint_name(*update)) found.push_back(entry.path());
  }
  std::sort(found.rbegin(), found.rend(), is_earlier);
  return found;
}

void remove_checkpoint(const fs::path& checkpoint) {
  const fs::path aside = free_name_beside(checkpoint);
  fs::rename(checkpoint, aside);
  remove_if_possible(aside);
}

void point_at(const fs::path& directory, const std::string& pointer, std::int64_t update) {
  base::write_file_whole(directory / pointer, checkpoint_name(update) + "\n");
}

void remove_old_checkpoints(const fs::path& directory, std::int64_t keep, std::int64_t keep_every) {
  const std::vector<fs::path> found = all_checkpoints(directory);
  std::vector<fs::path> wanted;
  for (const char* pointer : pointers)
    if (base::path_exists(directory / pointer)) wanted.push_back(directory / named_by(directory / pointer));
  for (std::size_t index = static_cast<std::size_t>(keep); index < found.size(); ++index) {
    const bool is_kept = keep_every > 0 && update_of(found[index].filename().string()).value_or(0) % keep_every == 0;
    if (!is_kept && std::ranges::find(wanted, found[index]) == wanted.end()) remove_checkpoint(found[index]);
  }
}

void remove_unfinished(const fs::path& directory) {
  std::vector<fs::path> found;
  for (const auto& entry : fs::directory_iterator(directory))
    if (entry.path().filename().string().ends_with(unfinished)) found.push_back(entry.path());
  for (const fs::path& path : found) remove_if_possible(path);
}

bool has_checkpoint(const fs::path& directory, std::int64_t update) {
  return fs::is_directory(directory / checkpoint_name(update));
}

fs::path find_checkpoint(const fs::path& directory, const std::string& which) {
  std::string name = which;
  if (which == "latest" && !base::path_exists(directory / which)) {
    const auto found = all_checkpoints(directory);  // the run was killed between writing the first one and its pointer
    if (!found.empty()) return found.front();
  }
  const bool is_pointer = std::ranges::find(pointers, which) != pointers.end();
  if (is_pointer) {
    if (!base::path_exists_checked(directory / which))
      throw base::BadInput("{}: no checkpoint is called {} here", directory.string(), which);
    name = named_by(directory / which);
  } else if (const auto update = update_of(which)) {
    name = checkpoint_name(*update);
  }
  const fs::path checkpoint = checkpoint_called(directory, name);
  if (!checkpoint.empty()) return checkpoint;
  if (is_pointer)
    throw base::BadInput("{}: names \"{}\", which is no checkpoint here; {}", (directory / which).string(), name,
                         suggestions(directory));
  throw base::BadInput("{}: no checkpoint {} here; {}", directory.string(), name, suggestions(directory));
}

std::vector<fs::path> newest_checkpoints(const fs::path& directory, std::int64_t count) {
  std::vector<fs::path> found = all_checkpoints(directory);
  if (std::cmp_less(found.size(), count))
    throw base::BadInput("--average {}: {} has {}; give at most that many, or train with a larger --keep-checkpoints",
                         count, directory.string(), base::counted(std::ssize(found), "checkpoint"));
  found.resize(static_cast<std::size_t>(count));
  return found;
}

}  // namespace ut::core
