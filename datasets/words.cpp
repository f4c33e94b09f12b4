#include "datasets/words.h"

namespace ut::datasets {
namespace {

enum class Kind { space, letter, other };

Kind kind_of(char character) {
  const auto byte = static_cast<unsigned char>(character);
  if (byte == ' ' || (byte >= '\t' && byte <= '\r')) return Kind::space;
  const bool letter = (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') || (byte >= '0' && byte <= '9');
  return letter || byte >= 0x80 ? Kind::letter : Kind::other;
}

}  // namespace

std::vector<std::string> split_words(std::string_view text) {
  std::vector<std::string> words;
  Kind previous = Kind::space;
  for (const char character : text) {
    const Kind kind = kind_of(character);
    if (kind != Kind::space) {
      if (kind != previous) words.emplace_back();
      words.back() += character;
    }
    previous = kind;
  }
  return words;
}

std::int32_t WordTable::number(const std::string& word) {
  const auto [entry, added] = numbers_.emplace(word, static_cast<std::int32_t>(words_.size()));
  if (added) words_.push_back(word);
  return entry->second;
}

}  // namespace ut::datasets
