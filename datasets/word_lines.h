#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace ut::datasets {

/// Lines of words as numbers, one after the other in memory: much text in little of it.
class WordLines {
 public:
  void append(std::span<const std::int32_t> line) {
    words_.insert(words_.end(), line.begin(), line.end());
    ends_.push_back(words_.size());
  }
  std::size_t size() const { return ends_.size(); }
  std::span<const std::int32_t> line(std::size_t index) const {
    const std::size_t begin = index == 0 ? 0 : ends_[index - 1];
    return std::span(words_).subspan(begin, ends_[index] - begin);
  }
  /// Of all lines.
  std::span<std::int32_t> words() { return words_; }
  std::span<const std::int32_t> words() const { return words_; }

 private:
  std::vector<std::int32_t> words_;
  std::vector<std::size_t> ends_;  // of the lines, in words_
};

}  // namespace ut::datasets
