#pragma once

#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace ut::datasets {

/// The table of subject-verb dependencies that Linzen, Dupoux and Goldberg (2016) published.
inline constexpr const char* dependencies_table = "agr_50_mostcommon_10K.tsv";

/// A verb and its sentence.
struct Dependency {
  std::vector<std::string_view> words;  // of the sentence; rare ones are their part of speech
  std::size_t verb = 0;                 // its place among them, from 0
  std::string_view number;              // VBZ: singular, or VBP
  std::int64_t nouns = 0;               // between its subject and it
  std::int64_t attractors = 0;          // those of them of the other number
};

/// Calls use(line, dependency) for each line but the first, which names the columns, of a table's content. Fields are
/// parted by tabs; in one that stands in quotation marks, as Python's csv writes them, each of its own stands twice.
/// Throws base::BadInput naming `file`, the line, and what is wrong there.
void for_each_dependency(std::string_view content, const std::string& file,
                         const std::function<void(std::string_view line, const Dependency&)>& use);

/// The present forms of verbs as a table's sentences have them.
class VerbForms {
 public:
  /// Goes through the whole table, as for_each_dependency().
  VerbForms(std::string_view content, const std::string& file);

  /// The verb's form and that of the other number, as English makes one of the other; their parts of speech, as for
  /// rare verbs, where the table has no such other form.
  std::pair<std::string, std::string> right_and_wrong(const Dependency& dependency) const;

 private:
  std::set<std::string, std::less<>> singular_;
  std::set<std::string, std::less<>> plural_;
};

/// The part of speech of a verb of the other number than this one.
std::string_view other_number(std::string_view number);

}  // namespace ut::datasets
