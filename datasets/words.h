#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace ut::datasets {

/// Cuts text into words the way the authors' code does: at white space and wherever letters and digits meet other
/// characters, so "Mary moved." gives Mary, moved and "." Bytes outside ASCII count as letters.
std::vector<std::string> split_words(std::string_view text);

/// The words between ASCII white space; they point into `text`.
std::vector<std::string_view> split_at_spaces(std::string_view text);

/// The words with a count above 0, by descending count, then alphabetically. counts[n] is that of words[n].
std::vector<std::string> most_frequent_first(const std::vector<std::string>& words,
                                             const std::vector<std::int64_t>& counts);

/// A hash that is always the same for the same text; for cutting data into splits.
std::uint64_t text_hash(std::string_view text);

/// Words and numbers for them, in order of first use; for holding much text in little memory while it is read.
class WordTable {
 public:
  /// The word's number; a word not met before gets the next one.
  std::int32_t number(const std::string& word);
  const std::vector<std::string>& words() const { return words_; }

 private:
  std::vector<std::string> words_;
  std::unordered_map<std::string, std::int32_t> numbers_;
};

}  // namespace ut::datasets
