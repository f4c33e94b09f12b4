#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/span.h"

namespace ut::datasets {

/// Lines of words as numbers, one after the other in memory: holds much text in little memory.
class WordLines {
 public:
  void append(std::span<const std::int32_t> line) { add_line(append_text(line)); }
  /// Appends words that belong to no line yet. Returns where they stand in words().
  base::Span append_text(std::span<const std::int32_t> text) {
    const std::int64_t begin = std::ssize(words_);
    words_.insert(words_.end(), text.begin(), text.end());
    return {begin, std::ssize(words_)};
  }
  /// Adds a line of words that are there already; lines may share words.
  void add_line(const base::Span& words) { lines_.push_back(words); }

  std::size_t size() const { return lines_.size(); }
  std::span<const std::int32_t> line(std::size_t index) const { return text(lines_[index]); }
  std::span<const std::int32_t> text(const base::Span& words) const {
    return std::span(words_).subspan(static_cast<std::size_t>(words.begin),
                                     static_cast<std::size_t>(words.end - words.begin));
  }
  /// All words, of lines and between them.
  std::span<std::int32_t> words() { return words_; }
  std::span<const std::int32_t> words() const { return words_; }

 private:
  std::vector<std::int32_t> words_;
  std::vector<base::Span> lines_;  // in words_
};

}  // namespace ut::datasets
