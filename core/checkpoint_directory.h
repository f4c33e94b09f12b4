#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ut::core {

/// What is added to the name of a checkpoint while it is written or removed: such a one is no checkpoint.
inline constexpr std::string_view unfinished = ".tmp";

/// The name of an update's checkpoint: update-00001000.
std::string checkpoint_name(std::int64_t update);
/// The update that a checkpoint's name says; none where it is no such name.
std::optional<std::int64_t> update_of(std::string_view name);
/// Whether one checkpoint is of an earlier update than another.
bool is_earlier(const std::filesystem::path& checkpoint, const std::filesystem::path& other);

/// All that are there, the newest first; none where there is no such directory.
std::vector<std::filesystem::path> all_checkpoints(const std::filesystem::path& directory);

/// Makes `directory`/`pointer` (latest, best) name the checkpoint of this update.
void point_at(const std::filesystem::path& directory, const std::string& pointer, std::int64_t update);

/// Removes all but the newest `keep` checkpoints, those of updates that `keep_every` divides (0: none), and those that
/// latest and best name.
void remove_old_checkpoints(const std::filesystem::path& directory, std::int64_t keep, std::int64_t keep_every = 0);

/// Removes what writes that were killed have left; what cannot be removed stays. Only while nobody writes there.
void remove_unfinished(const std::filesystem::path& directory);

/// Whether there is one of this update.
bool has_checkpoint(const std::filesystem::path& directory, std::int64_t update);

/// The checkpoint that `which` means: latest, best, or update-N. Throws base::BadInput where there is none.
std::filesystem::path find_checkpoint(const std::filesystem::path& directory, const std::string& which);

/// The newest `count` checkpoints, the newest first. Throws base::BadInput where there are fewer.
std::vector<std::filesystem::path> newest_checkpoints(const std::filesystem::path& directory, std::int64_t count);

/// Removes a checkpoint: at any kill it is still whole, or none.
void remove_checkpoint(const std::filesystem::path& checkpoint);

}  // namespace ut::core
