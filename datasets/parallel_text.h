#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace ut::datasets {

/// Two files of a directory that say the same in two languages, line by line.
struct ParallelFiles {
  std::string name;  // of the set: the file's name without the language
  std::filesystem::path source;
  std::filesystem::path target;
};

/// The files of the set `name`: NAME.en and NAME.de for the languages en and de, else en-NAME.txt and de-NAME.txt.
/// Throws base::BadInput naming what is missing.
ParallelFiles find_parallel_files(const std::filesystem::path& directory, const std::string& name,
                                  const std::string& source_language, const std::string& target_language);

/// The directory's sets in the source language that are called `name`, or begin with it with no letter after it
/// (`test.lc`, `test2016`), in the order of their names.
std::vector<std::string> parallel_sets(const std::filesystem::path& directory, std::string_view name,
                                       const std::string& source_language);

/// The lines of two parallel files. They point into the contents, which this object keeps. A carriage return at a
/// line's end is no part of it.
class ParallelLines {
 public:
  /// Reads the files. Throws base::BadInput if one cannot be read, has no lines or a line that is not text (see
  /// check_line()), or if their numbers of lines differ.
  explicit ParallelLines(const ParallelFiles& files);
  ParallelLines(const ParallelLines&) = delete;
  ParallelLines& operator=(const ParallelLines&) = delete;

  std::size_t size() const { return source_.size(); }
  std::string_view source(std::size_t line) const { return source_[line]; }
  std::string_view target(std::size_t line) const { return target_[line]; }

 private:
  std::string source_text_;
  std::string target_text_;
  std::vector<std::string_view> source_;
  std::vector<std::string_view> target_;
};

}  // namespace ut::datasets
