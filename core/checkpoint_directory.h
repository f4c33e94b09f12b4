#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ut::core {

/// The suffix of a checkpoint's name while it is written or removed. A name with it is not a checkpoint's.
inline constexpr std::string_view unfinished = ".tmp";

/// The name of an update's checkpoint: update-00001000.
std::string checkpoint_name(std::int64_t update);
/// The update in a checkpoint's name; none if `name` is not a checkpoint's.
std::optional<std::int64_t> update_of(std::string_view name);
/// Whether one checkpoint is of an earlier update than another.
bool is_earlier(const std::filesystem::path& checkpoint, const std::filesystem::path& other);

/// All checkpoints in `directory`, the newest first; none if there is no such directory.
std::vector<std::filesystem::path> all_checkpoints(const std::filesystem::path& directory);

/// Makes `directory`/`pointer` (latest, best) name the checkpoint of this update.
void point_at(const std::filesystem::path& directory, const std::string& pointer, std::int64_t update);

/// Removes checkpoints. It keeps the newest `keep`, those of updates that `keep_every` divides (0: none), and those
/// that latest and best name.
void remove_old_checkpoints(const std::filesystem::path& directory, std::int64_t keep, std::int64_t keep_every = 0);

/// Removes what killed writes have left; what cannot be removed stays. Call it only while nobody writes there.
void remove_unfinished(const std::filesystem::path& directory);

/// Whether there is a checkpoint of this update.
bool has_checkpoint(const std::filesystem::path& directory, std::int64_t update);

/// The checkpoint that `which` names: latest, best, or update-N. Throws base::BadInput if there is none.
std::filesystem::path find_checkpoint(const std::filesystem::path& directory, const std::string& which);

/// The newest `count` checkpoints, the newest first. Throws base::BadInput if there are fewer.
std::vector<std::filesystem::path> newest_checkpoints(const std::filesystem::path& directory, std::int64_t count);

/// Removes a checkpoint. If the process is killed, it is either still whole or no longer named as a checkpoint.
void remove_checkpoint(const std::filesystem::path& checkpoint);

}  // namespace ut::core
