#include "launcher/options/config_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <iomanip>
#include <sstream>

#include "base/error.h"
#include "base/file.h"

namespace ut::launcher {
namespace {

std::string trimmed(const std::string& text) {
  const auto begin = text.find_first_not_of(" \t\r");
  if (begin == std::string::npos) return "";
  return text.substr(begin, text.find_last_not_of(" \t\r") + 1 - begin);
}

/// Where a comment begins: at a # that is the first character or follows a blank.
std::size_t comment_in(const std::string& text) {
  return text.starts_with('#') ? 0 : std::min(text.find(" #"), text.find("\t#"));
}

/// The value of a line. A value that has a # or quotes in it stands in quotes.
std::string config_value(const std::string& text, const std::string& where) {
  if (!text.starts_with('"')) return trimmed(text.substr(0, comment_in(text)));
  std::istringstream stream(text);
  std::string value;
  std::string rest;
  const bool closed = !(stream >> std::quoted(value)).fail();
  std::getline(stream, rest);
  rest = trimmed(rest);
  if (!closed || (!rest.empty() && !rest.starts_with('#')))
    throw base::BadInput("{}: the quotes around the value are not closed, or something follows them", where);
  return value;
}

std::string quoted_if_needed(const std::string& value) {
  if (value == trimmed(value) && value.find_first_of("#\"") == std::string::npos) return value;
  std::ostringstream stream;
  stream << std::quoted(value);
  return stream.str();
}

}  // namespace

std::vector<ConfigLine> config_lines(const std::string& text, const std::string& path) {
  std::vector<ConfigLine> lines;
  std::istringstream stream{std::string(base::without_byte_order_mark(text))};
  std::string line;
  for (int number = 1; std::getline(stream, line); ++number) {
    line = trimmed(line);
    if (line.empty() || line.starts_with('#')) continue;
    const auto where = fmt::format("{} line {}", path, number);
    const auto equals = line.find('=');
    if (equals == std::string::npos || equals == 0)
      throw base::BadInput("{}: \"{}\" is not of the form name = value", where, line);
    lines.push_back({number, trimmed(line.substr(0, equals)), config_value(trimmed(line.substr(equals + 1)), where)});
  }
  return lines;
}

std::string config_line(const std::string& name, const std::string& value) {
  return fmt::format("{} = {}\n", name, quoted_if_needed(value));
}

}  // namespace ut::launcher
