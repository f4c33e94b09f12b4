// Gives the files of a corpus to a parser, whole and cut short, so that builds without libFuzzer check its old
// findings, too.

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "base/file.h"
#include "tests/fuzz/fuzz.h"

int main(int count, char** values) {
  constexpr std::size_t cuts = 32;
  std::size_t inputs = 0;
  for (int value = 1; value < count; ++value)
    for (const auto& entry : std::filesystem::recursive_directory_iterator(values[value])) {
      if (!entry.is_regular_file()) continue;
      fmt::print("{}\n", entry.path().string());  // if the parser ends the process, the last name is the culprit
      std::fflush(stdout);
      const std::string content = ut::base::read_file(entry.path());
      const auto* bytes = reinterpret_cast<const std::uint8_t*>(content.data());
      for (std::size_t cut = 0; cut <= std::min(cuts, content.size()); ++cut, ++inputs)
        LLVMFuzzerTestOneInput(bytes, content.size() - content.size() * cut / cuts);
    }
  fmt::print("{} inputs\n", inputs);
  return inputs == 0 ? 1 : 0;
}
