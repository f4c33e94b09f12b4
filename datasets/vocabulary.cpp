#include "datasets/vocabulary.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <stdexcept>
#include <string_view>
#include <utility>

#include "base/digest.h"
#include "base/error.h"

namespace ut::datasets {
namespace {

constexpr std::string_view reserved[] = {"<pad>", "<EOS>"};

}  // namespace

void check_words(const std::vector<std::string_view>& words, std::string_view file, std::size_t number) {
  for (const std::string_view word : words)
    if (std::ranges::find(reserved, word) != std::end(reserved))
      throw base::BadInput("{}:{}: the word {}; it is reserved for the vocabulary, use another", file, number, word);
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
