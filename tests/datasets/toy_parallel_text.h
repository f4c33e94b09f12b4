#pragma once

#include <fmt/format.h>

#include <string>

#include "base/philox.h"
#include "tests/temporary_directory.h"

namespace ut::tests {

/// Writes pairs of two made-up languages as NAME.en and NAME.de, for NAME train, val and test. Sentences have three to
/// six of thirty words, each of which has one translation, a capital and a full stop.
inline void write_toy_parallel_text(const TemporaryDirectory& directory, std::int64_t train, std::int64_t others) {
  base::Random random(11);
  const auto word = [](std::int64_t number, std::string_view consonants, std::string_view vowels) {
    std::string letters;
    for (int syllable = 0; syllable < 2; ++syllable, number /= 6) {
      letters += consonants[static_cast<std::size_t>(number % 6)];
      letters += vowels[static_cast<std::size_t>((number + syllable) % 3)];
    }
    return letters;
  };
  const auto capital = [](std::string text) {
    text[0] = static_cast<char>(text[0] - 'a' + 'A');
    return text + ".\n";
  };
  for (const auto& [name, pairs] : {std::pair("train", train), std::pair("val", others), std::pair("test", others)}) {
    std::string source;
    std::string target;
    for (std::int64_t pair = 0; pair < pairs; ++pair) {
      std::string from;
      std::string to;
      for (std::int64_t left = random.uniform(3, 6); left > 0; --left) {
        const std::int64_t number = random.uniform(0, 29);
        from += (from.empty() ? "" : " ") + word(number, "bdfgkl", "aei");
        to += (to.empty() ? "" : " ") + word(number, "mnprst", "ouy");
      }
      source += capital(from);
      target += capital(to);
    }
    directory.write(fmt::format("{}.en", name), source);
    directory.write(fmt::format("{}.de", name), target);
  }
}

}  // namespace ut::tests
