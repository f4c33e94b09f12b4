#include "datasets/parallel_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "base/error.h"
#include "base/file.h"
#include "datasets/lines.h"

namespace ut::datasets {
namespace {

namespace fs = std::filesystem;

/// The two ways in which the file of a set is named.
std::string language_last(const std::string& name, const std::string& language) {
  return fmt::format("{}.{}", name, language);
}
std::string language_first(const std::string& name, const std::string& language) {
  return fmt::format("{}-{}.txt", language, name);
}

/// The set of a file with this name; empty if the file is not of this language.
std::string set_of(const std::string& file, const std::string& language) {
  const std::string after = language_last("", language);
  if (file.size() > after.size() && file.ends_with(after)) return file.substr(0, file.size() - after.size());
  const std::string before = language + "-";
  const std::string_view text = ".txt";
  if (file.starts_with(before) && file.ends_with(text) && file.size() > before.size() + text.size())
    return file.substr(before.size(), file.size() - before.size() - text.size());
  return {};
}

std::vector<std::string_view> lines_of(std::string_view content, const fs::path& file) {
  std::vector<std::string_view> lines;
  for_each_line(content, [&](std::size_t number, std::string_view line) {
    check_line(line, file.string(), number);
    lines.push_back(line);
  });
  return lines;
}

}  // namespace

ParallelFiles find_parallel_files(const fs::path& directory, const std::string& name,
                                  const std::string& source_language, const std::string& target_language) {
  for (const auto named : {language_last, language_first}) {
    const ParallelFiles files{name, directory / named(name, source_language), directory / named(name, target_language)};
    const bool has_source = base::path_exists(files.source);
    if (has_source && base::path_exists(files.target)) return files;
    if (has_source)
      throw base::BadInput("{}: no such file, but {} is there; each needs the other", files.target.string(),
                           files.source.filename().string());
  }
  throw base::BadInput(
      "{}: no such file; the set {} needs {} and {} (the endings are --source-language and --target-language)",
      (directory / language_last(name, source_language)).string(), name, language_last(name, source_language),
      language_last(name, target_language));
}

std::vector<std::string> parallel_sets(const fs::path& directory, std::string_view name,
                                       const std::string& source_language) {
  std::vector<std::string> sets;
  for (const fs::directory_entry& entry : fs::directory_iterator(directory)) {
    const std::string set = set_of(entry.path().filename().string(), source_language);
    if (!set.starts_with(name)) continue;
    if (set.size() == name.size() || std::isalpha(static_cast<unsigned char>(set[name.size()])) == 0)
      sets.push_back(set);
  }
  std::ranges::sort(sets);
  const auto twice = std::ranges::unique(sets);  // a set whose files are named in both ways
  sets.erase(twice.begin(), twice.end());
  return sets;
}

ParallelLines::ParallelLines(const ParallelFiles& files)
    : source_text_(base::read_file(files.source)),
      target_text_(base::read_file(files.target)),
      source_(lines_of(source_text_, files.source)),
      target_(lines_of(target_text_, files.target)) {
  if (source_.empty()) throw base::BadInput("{}: no lines; one at least is needed", files.source.string());
  if (source_.size() != target_.size())
    throw base::BadInput("{}: {} lines, but {} has {}; needs a line for each", files.target.string(), target_.size(),
                         files.source.filename().string(), source_.size());
}

}  // namespace ut::datasets
