#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/file.h"

namespace ut::datasets {

/// Cuts text into words the way the authors' code does: at white space and wherever letters and digits meet other
/// characters, so "Mary moved." gives Mary, moved and "." Bytes outside ASCII count as letters.
std::vector<std::string> split_words(std::string_view text);

/// The words between white space of ASCII; they lie in `text`.
std::vector<std::string_view> split_at_spaces(std::string_view text);

/// Calls use(number, line) for every line of `text`, from 1 on, without its line feed.
template <typename Use>
void cut_at_line_feeds(std::string_view text, Use use) {
  for (std::size_t number = 1; !text.empty(); ++number) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    use(number, text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
}

/// The same of a whole file: a byte order mark that some editors put before the first line is no part of it.
template <typename Use>
void for_each_raw_line(std::string_view content, Use use) {
  cut_at_line_feeds(base::without_byte_order_mark(content), use);
}

/// Those lines.
std::vector<std::string> raw_lines(std::string_view content);

/// The same without a carriage return at a line's end.
template <typename Use>
void for_each_line(std::string_view content, Use use) {
  for_each_raw_line(content, [&use](std::size_t number, std::string_view line) {
    if (line.ends_with('\r')) line.remove_suffix(1);
    use(number, line);
  });
}

/// The longest line that text may have. A file that was not made for this has no line breaks, or few; and a line of
/// single letters takes some thirty times its size.
inline constexpr std::size_t most_line_bytes = std::size_t{1} << 22;

/// Throws base::BadInput, "file:number: …", where a line is longer, or has a NUL as text in UTF-16 does.
void check_line(std::string_view line, std::string_view file, std::size_t number);

/// The words that were counted at all, by descending count, then alphabetically; counts[n] is that of words[n].
std::vector<std::string> most_frequent_first(const std::vector<std::string>& words,
                                             const std::vector<std::int64_t>& counts);

/// Always the same for the same text; for cutting data into splits.
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
