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
  std::vector<std::string_view> words;  // of the sentence; rare ones are replaced by their part of speech
  std::size_t verb = 0;                 // the verb's place among them, from 0
  std::string_view verb_tag;            // VBZ (singular) or VBP (plural)
  std::int64_t nouns = 0;               // between the subject and the verb
  std::int64_t attractors = 0;          // how many of those nouns have the other number
};

/// Calls use(line, dependency) for each line of a table's content, except the first, which names the columns. Fields
/// are separated by tabs. A field may be in quotation marks, as Python's csv writes it: those inside the field are
/// doubled. Throws base::BadInput naming `file`, the line, and what is wrong there.
void for_each_dependency(std::string_view content, const std::string& file,
                         const std::function<void(std::string_view line, const Dependency&)>& use);

/// The present forms of verbs that occur in a table's sentences.
class VerbForms {
 public:
  /// Reads the whole table. Throws as for_each_dependency().
  VerbForms(std::string_view content, const std::string& file);

  /// The verb's form and that of the other number, as English makes one from the other. If the table does not have the
  /// other form, both are parts of speech (VBZ, VBP), as rare verbs are.
  std::pair<std::string, std::string> right_and_wrong(const Dependency& dependency) const;

 private:
  std::set<std::string, std::less<>> singular_;
  std::set<std::string, std::less<>> plural_;
};

/// The part of speech of a verb of the other number: VBP for VBZ, and VBZ for VBP.
std::string_view other_tag(std::string_view tag);

}  // namespace ut::datasets
