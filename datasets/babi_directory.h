#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace ut::datasets {

inline constexpr std::int64_t babi_task_count = 20;

/// The splits' names in the names of files, just before .txt.
inline constexpr const char* babi_file_splits[] = {"train", "valid", "test"};

/// The directory with the bAbI files: `data` itself if it holds any (qa*_train.txt …), else one of the four that come
/// with the published data, below `data` or below `data`/tasks_1-20_v1-2. `size` is "1k", "10k" or "auto" (10k if it is
/// there). Directories with a validation split (en-valid…) go first. Throws base::BadInput naming what is missing, or
/// --babi-size if it is none of these or contradicts the directory's name.
std::filesystem::path find_babi_directory(const std::string& data, const std::string& size);

/// The file of one task and split ("train", "valid", "test"): qa1_train.txt or qa1_any-name_train.txt. Empty if there
/// is none. Throws base::BadInput if there are several.
std::filesystem::path find_babi_file(const std::filesystem::path& directory, std::int64_t task,
                                     const std::string& split);

/// The tasks of which the directory has a file, of whichever split.
std::vector<std::int64_t> babi_tasks(const std::filesystem::path& directory);

/// The name that a missing file of this task would have here, judging by the task's other files.
std::string expected_babi_file(const std::filesystem::path& directory, std::int64_t task, const std::string& split);

}  // namespace ut::datasets
