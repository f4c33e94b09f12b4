#include "datasets/lines.h"

#include "base/error.h"

namespace ut::datasets {

std::vector<std::string> raw_lines(std::string_view content) {
  std::vector<std::string> lines;
  for_each_raw_line(content, [&lines](std::size_t, std::string_view line) { lines.emplace_back(line); });
  return lines;
}

void check_line(std::string_view line, std::string_view file, std::size_t number) {
  if (line.size() > most_line_bytes)
    throw base::BadInput("{}:{}: a line of {} bytes; a text file is needed, with lines of {} bytes at most", file,
                         number, line.size(), most_line_bytes);
  if (line.find('\0') != std::string_view::npos)
    throw base::BadInput("{}:{}: a NUL byte; a text file is needed", file, number);
}

}  // namespace ut::datasets
