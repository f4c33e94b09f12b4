#include "datasets/vocabulary.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <stdexcept>
#include <string_view>
#include <utility>

#include "base/error.h"
#include "base/file.h"

namespace ut::datasets {
namespace {

constexpr std::string_view reserved[] = {"<pad>", "<EOS>"};

}  // namespace

void check_words(const std::vector<std::string_view>& words, std::string_view file, std::size_t number) {
  for (const std::string_view word : words)
    if (std::ranges::find(reserved, word) != std::end(reserved))
      throw base::BadInput(
          fmt::format("{}:{}: the word {}; it is kept for the vocabulary, call it something else", file, number, word));
}

Vocabulary::Vocabulary(const std::vector<std::string>& words, std::string rules)
    : symbols_(std::begin(reserved), std::end(reserved)), rules_(std::move(rules)) {
  symbols_.insert(symbols_.end(), words.begin(), words.end());
  for (const std::string& symbol : symbols_) {
    if (symbol.empty() || symbol.find_first_of("\r\n") != std::string::npos)
      throw std::invalid_argument("Vocabulary: a symbol is empty or holds a line break");
    if (!ids_.emplace(symbol, static_cast<std::int64_t>(ids_.size())).second)
      throw std::invalid_argument(fmt::format("Vocabulary: the symbol {} is there twice", symbol));
  }
}

Vocabulary Vocabulary::read(const std::filesystem::path& path) {
  const std::string content = base::read_file(path);
  std::unordered_map<std::string, std::size_t> lines;
  std::vector<std::string> words;
  std::size_t line = 0;
  const auto fail = [&](const std::string& what) {
    throw base::BadInput(fmt::format("{}:{}: {}", path.string(), line, what));
  };
  for (std::size_t begin = 0; begin < content.size();) {
    const std::size_t end = std::min(content.find('\n', begin), content.size());
    std::string symbol = content.substr(begin, end - begin);
    if (symbol.ends_with('\r')) symbol.pop_back();
    begin = end + 1;
    ++line;
    if (symbol.empty()) fail("empty line; a vocabulary has one symbol a line");
    if (symbol.find_first_of(std::string_view("\0\r", 2)) != std::string::npos)
      fail("a NUL or a carriage return; a vocabulary is text with one symbol a line");
    if (line <= std::size(reserved) && symbol != reserved[line - 1])
      fail(fmt::format("'{}'; a vocabulary starts with the lines <pad> and <EOS>", symbol));
    if (const auto [first, added] = lines.emplace(symbol, line); !added)
      fail(fmt::format("'{}' was there in line {}; each symbol is there once", symbol, first->second));
    if (line > std::size(reserved)) words.push_back(std::move(symbol));
  }
  ++line;
  if (line <= std::size(reserved)) fail("the file ends here; a vocabulary starts with the lines <pad> and <EOS>");
  return Vocabulary(words);
}

std::string Vocabulary::text() const {
  std::string lines;
  for (const std::string& symbol : symbols_) lines += symbol + '\n';
  return lines;
}

std::int64_t Vocabulary::id(const std::string& word) const {
  const auto found = ids_.find(word);
  return found == ids_.end() ? -1 : found->second;
}

std::string Vocabulary::digest() const {
  const std::string all = text() + rules_;
  return base::digest(all.data(), all.size());
}

}  // namespace ut::datasets
