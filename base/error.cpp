#include "base/error.h"

#include <fmt/format.h>

#include <algorithm>

namespace ut::base {
namespace {

constexpr std::size_t most_shown = 1200;
constexpr std::size_t shown_of_end = 400;  // where a message says what would be right
constexpr std::string_view left_out = " […] ";

bool continues(char byte) { return (static_cast<unsigned char>(byte) & 0xc0U) == 0x80U; }

/// Bytes of the character that `text` begins with; 0 if they are not UTF-8.
std::size_t character_size(std::string_view text) {
  const auto byte = [&](std::size_t place) { return static_cast<unsigned char>(text[place]); };
  const unsigned char first = byte(0);
  if (first < 0x80) return 1;
  const std::size_t size = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
  if (first < 0xc2 || first > 0xf4 || text.size() < size) return 0;
  for (std::size_t place = 1; place < size; ++place)
    if (!continues(text[place])) return 0;
  const bool is_overlong = (first == 0xe0 && byte(1) < 0xa0) || (first == 0xf0 && byte(1) < 0x90);
  const bool is_surrogate = first == 0xed && byte(1) > 0x9f;
  const bool is_beyond = first == 0xf4 && byte(1) > 0x8f;
  return is_overlong || is_surrogate || is_beyond ? 0 : size;
}

bool is_control(std::string_view character) {
  const auto first = static_cast<unsigned char>(character[0]);
  if (character.size() == 1) return first < 0x20 || first == 0x7f;
  return character <= "\u009f" || character == "\u2028" || character == "\u2029";
}

std::string written_out(std::string_view bytes) {
  if (bytes == "\n") return "\\n";
  if (bytes == "\t") return "\\t";
  if (bytes == "\r") return "\\r";
  std::string text;
  for (const char byte : bytes) text += fmt::format("\\x{:02x}", static_cast<unsigned char>(byte));
  return text;
}

std::string escaped(std::string_view text) {
  std::string line;
  while (!text.empty()) {
    const std::size_t size = character_size(text);
    const std::string_view character = text.substr(0, std::max<std::size_t>(1, size));
    if (size == 0 || is_control(character))
      line += written_out(character);
    else
      line += character;
    text.remove_prefix(character.size());
  }
  return line;
}

/// At most `size` bytes from the start or the end of the text, cut between characters.
std::string_view beginning(std::string_view text, std::size_t size) {
  if (size >= text.size()) return text;
  while (size > 0 && continues(text[size])) --size;
  return text.substr(0, size);
}
std::string_view end(std::string_view text, std::size_t size) {
  if (size >= text.size()) return text;
  std::size_t begin = text.size() - size;
  while (begin < text.size() && continues(text[begin])) ++begin;
  return text.substr(begin);
}

}  // namespace

std::string printable_line(std::string_view text) {
  std::string line;
  if (text.size() > 2 * most_shown)  // do not escape all of a file that is one long line
    line = escaped(beginning(text, most_shown)) + escaped(end(text, most_shown));
  else
    line = escaped(text);
  if (line.size() <= most_shown) return line;
  const std::size_t shown_of_beginning = most_shown - shown_of_end - left_out.size();
  return fmt::format("{}{}{}", beginning(line, shown_of_beginning), left_out, end(line, shown_of_end));
}

}  // namespace ut::base
