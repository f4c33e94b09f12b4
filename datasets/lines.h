#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/file.h"

namespace ut::datasets {

/// Calls use(number, line) for every line of `text`, numbered from 1, without its line feed.
template <typename Use>
void cut_at_line_feeds(std::string_view text, Use use) {
  for (std::size_t number = 1; !text.empty(); ++number) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    use(number, text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
}

/// The same for a whole file, without the byte order mark that some editors put before the first line.
template <typename Use>
void for_each_raw_line(std::string_view content, Use use) {
  cut_at_line_feeds(base::without_byte_order_mark(content), use);
}

/// The lines of for_each_raw_line().
std::vector<std::string> raw_lines(std::string_view content);

/// The same, also without a carriage return at a line's end.
template <typename Use>
void for_each_line(std::string_view content, Use use) {
  for_each_raw_line(content, [&use](std::size_t number, std::string_view line) {
    if (line.ends_with('\r')) line.remove_suffix(1);
    use(number, line);
  });
}

/// The longest line that text may have. A file that is not text has few line breaks or none, and a line of single
/// letters takes some thirty times its size in memory.
inline constexpr std::size_t most_line_bytes = std::size_t{1} << 22;

/// Throws base::BadInput, "file:number: …", if a line is longer than that, or has a NUL, as text in UTF-16 does.
void check_line(std::string_view line, std::string_view file, std::size_t number);

}  // namespace ut::datasets
