#include "tests/fuzz/fuzz.h"

#include <fmt/format.h>

#include <cstdlib>

namespace ut::tests {

void require(bool holds, std::string_view what) {
  if (holds) return;
  fmt::print(stderr, "finding: {}\n", what);
  std::abort();
}

void require_printable_line(std::string_view message) {
  require(!message.empty(), "an empty message");
  require(message.size() <= 1200, "a message longer than a screen");
  require(base::printable_line(message) == message, "a message with control characters");
  for (const char sign : message)
    require(static_cast<unsigned char>(sign) >= 0x20 && sign != 0x7f, "a message with control characters");
}

std::vector<std::string> parts_of(const std::uint8_t* data, std::size_t size, std::size_t count) {
  constexpr std::string_view line = "----\n";
  std::string_view rest(reinterpret_cast<const char*>(data), size);
  std::vector<std::string> parts;
  while (parts.size() + 1 < count) {
    const std::size_t end = rest.find(line);
    parts.emplace_back(rest.substr(0, end));
    rest = end == std::string_view::npos ? std::string_view() : rest.substr(end + line.size());
  }
  parts.emplace_back(rest);
  return parts;
}

void overwrite(const TemporaryDirectory& directory, const std::string& name, std::string_view content) {
  std::ofstream(directory.path() / name, std::ios::binary | std::ios::trunc) << content;
}

}  // namespace ut::tests
