#include "datasets/words.h"

#include <algorithm>

#include "base/philox.h"

namespace ut::datasets {
namespace {

enum class Kind { space, letter, other };

bool is_ascii_space(char character) { return character == ' ' || (character >= '\t' && character <= '\r'); }

Kind kind_of(char character) {
  const auto byte = static_cast<unsigned char>(character);
  if (is_ascii_space(character)) return Kind::space;
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

std::vector<std::string_view> split_at_spaces(std::string_view text) {
  std::vector<std::string_view> words;
  for (std::size_t begin = 0; begin < text.size();) {
    std::size_t end = begin;
    while (end < text.size() && !is_ascii_space(text[end])) ++end;
    if (end > begin) words.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return words;
}

std::vector<std::string> most_frequent_first(const std::vector<std::string>& words,
                                             const std::vector<std::int64_t>& counts) {
  std::vector<std::size_t> order;
  for (std::size_t word = 0; word < words.size(); ++word)
    if (counts[word] > 0) order.push_back(word);
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return counts[a] != counts[b] ? counts[a] > counts[b] : words[a] < words[b];
  });
  std::vector<std::string> ordered;
  for (const std::size_t word : order) ordered.push_back(words[word]);
  return ordered;
}

std::uint64_t text_hash(std::string_view text) {
  std::uint64_t hash = 0;
  for (const char character : text) hash = base::mix(hash, static_cast<unsigned char>(character));
  return hash;
}

std::int32_t WordTable::number(const std::string& word) {
  const auto [entry, added] = numbers_.try_emplace(word, static_cast<std::int32_t>(words_.size()));
  if (added) words_.push_back(word);
  return entry->second;
}

}  // namespace ut::datasets
