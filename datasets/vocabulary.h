#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace ut::datasets {

inline constexpr std::int64_t padding_id = 0;  // never occurs in rows; kept so that ids equal the authors'
inline constexpr std::int64_t end_of_sequence_id = 1;

/// Throws base::BadInput, "file:number: …", if a word of the line is the name of a reserved symbol.
void check_words(const std::vector<std::string_view>& words, std::string_view file, std::size_t number);

/// Symbols and their ids; 0 and 1 are reserved (`<pad>`, `<EOS>`).
class Vocabulary {
 public:
  /// `words` get the ids 2, 3, … Throws std::invalid_argument if one is there twice, reserved, empty or holds a line
  /// break. `rules`: the digest of what cuts text into these words, if that is more than their list.
  explicit Vocabulary(const std::vector<std::string>& words, std::string rules = "");

  /// One symbol a line, the reserved ones included.
  std::string text() const;

  std::int64_t size() const { return static_cast<std::int64_t>(symbols_.size()); }
  /// Throws std::out_of_range if there is no such id.
  const std::string& symbol(std::int64_t id) const { return symbols_.at(static_cast<std::size_t>(id)); }
  /// -1 if the word is not in the vocabulary.
  std::int64_t id(const std::string& word) const;
  /// Changes when any symbol, their order or the rules change; kept in checkpoints.
  std::string digest() const;

 private:
  std::vector<std::string> symbols_;
  std::unordered_map<std::string, std::int64_t> ids_;
  std::string rules_;
};

}  // namespace ut::datasets
