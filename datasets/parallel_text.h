#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace ut::datasets {

/// Which two files of a directory say the same in two languages, line by line.
struct ParallelFiles {
  std::string name;  // of the set: the file's name without its language
  std::filesystem::path source;
  std::filesystem::path target;
};

/// The files of the set `name`: NAME.en and NAME.de for the languages en and de, else en-NAME.txt and de-NAME.txt.
/// Throws base::BadInput naming what is missing.
ParallelFiles find_parallel_files(const std::filesystem::path& directory, const std::string& name,
                                  const std::string& source_language, const std::string& target_language);

/// The sets of the directory, in the order of their names, that are called `name` or begin with it, no letter
/// after it (`test.lc`, `test2016`), in the source language.
std::vector<std::string> parallel_sets(const std::filesystem::path& directory, std::string_view name,
                                       const std::string& source_language);

/// The lines of two files that lie beside each other; they lie in the contents. A carriage return at a line's end is
/// no part of it.
class ParallelLines {
 public:
  /// Reads the files. Throws base::BadInput where one cannot be read, has no lines or one that is none of a text, or
  /// they have not equally many.
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
