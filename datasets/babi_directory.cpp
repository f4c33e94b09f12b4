#include "datasets/babi_directory.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/error.h"
#include "datasets/task_options.h"

namespace ut::datasets {
namespace {

namespace fs = std::filesystem;

bool is_file_of(const std::string& name, const std::string& prefix, const std::string& split) {
  const std::string suffix = fmt::format("_{}.txt", split);
  return name.starts_with(prefix) && name.ends_with(suffix) && name.size() >= prefix.size() + suffix.size() - 1;
}

std::vector<fs::directory_entry> entries(const fs::path& directory) {
  std::error_code code;
  std::vector<fs::directory_entry> found;
  for (fs::directory_iterator entry(directory, code), end; !code && entry != end; entry.increment(code))
    found.push_back(*entry);
  if (code) throw base::BadInput("{}: cannot be listed: {}", directory.string(), code.message());
  return found;
}

bool holds_task_files(const fs::path& directory) { return !babi_tasks(directory).empty(); }

void check_size(const fs::path& directory, const std::string& size) {
  const fs::path named = directory.has_filename() ? directory : directory.parent_path();  // "en/" is "en"
  const std::string name = named.filename().string();
  const bool large = name == "en-10k" || name == "en-valid-10k";
  const bool small = name == "en" || name == "en-valid";
  if ((large && size == "1k") || (small && size == "10k"))
    throw base::BadInput("--babi-size {}: --data {} holds the {} files; leave the size out, or give {}", size,
                         directory.string(), large ? "10k" : "1k", "the directory above it");
}

std::vector<std::string> candidates(const std::string& size) {
  if (size == "1k") return {"en-valid", "en"};
  if (size == "10k") return {"en-valid-10k", "en-10k"};
  if (size == "auto") return {"en-valid-10k", "en-10k", "en-valid", "en"};
  throw base::BadInput("--babi-size {}: it is 1k, 10k or auto", size);
}

}  // namespace

fs::path find_babi_directory(const std::string& data, const std::string& size) {
  const std::vector<std::string> names = candidates(size);
  fs::path directory = data_directory(data, "bAbI files (qa1_…_train.txt)");
  if (holds_task_files(directory)) {
    check_size(directory, size);
    return directory;
  }
  std::error_code code;
  for (const fs::path& parent : {directory, directory / "tasks_1-20_v1-2"})
    for (const std::string& name : names)
      if (fs::is_directory(parent / name, code) && holds_task_files(parent / name)) return parent / name;
  throw base::BadInput("--data {}: no bAbI files; it needs files such as qa1_…_train.txt, or a directory {}", data,
                       fmt::join(names, " or "));
}

fs::path find_babi_file(const fs::path& directory, std::int64_t task, const std::string& split) {
  fs::path found;
  for (const fs::directory_entry& entry : entries(directory)) {
    if (!is_file_of(entry.path().filename().string(), fmt::format("qa{}_", task), split)) continue;
    if (!found.empty())
      throw base::BadInput("{}: two {} files of task {}, {} and {}; one is needed", directory.string(), split, task,
                           std::min(found, entry.path()).filename().string(),
                           std::max(found, entry.path()).filename().string());
    found = entry.path();
  }
  return found;
}

std::vector<std::int64_t> babi_tasks(const fs::path& directory) {
  const std::vector<fs::directory_entry> files = entries(directory);
  const auto has = [&](std::int64_t task, const char* split) {
    return std::ranges::any_of(files, [&](const fs::directory_entry& file) {
      return is_file_of(file.path().filename().string(), fmt::format("qa{}_", task), split);
    });
  };
  std::vector<std::int64_t> tasks;
  for (std::int64_t task = 1; task <= babi_task_count; ++task)
    if (std::ranges::any_of(babi_file_splits, [&](const char* split) { return has(task, split); }))
      tasks.push_back(task);
  return tasks;
}

std::string expected_babi_file(const fs::path& directory, std::int64_t task, const std::string& split) {
  for (const std::string other : babi_file_splits) {
    const std::string name = find_babi_file(directory, task, other).filename().string();
    const std::size_t ending = fmt::format("{}.txt", other).size();
    if (!name.empty()) return fmt::format("{}{}.txt", name.substr(0, name.size() - ending), split);
  }
  return fmt::format("qa{}_{}.txt", task, split);
}

}  // namespace ut::datasets
