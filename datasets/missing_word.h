#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "datasets/task.h"
#include "datasets/word_lines.h"
#include "datasets/words.h"

namespace ut::datasets {

/// Base of tasks that ask for the word, or the class of it, that comes after a line's words.
/// Source row 0 holds end_of_sequence_id and stands where the answer is missing: there it is read. Row n holds the n-th
/// word before it, so that a position says how far back a word is. Words outside the vocabulary are `<unk>`; an answer
/// outside it is no_answer: such examples are scored, as wrong, and never trained on.
class MissingWord : public Task {
 public:
  const Vocabulary& vocabulary() const override { return vocabulary_; }
  std::int64_t words_per_row() const override { return 1; }
  bool has_target() const override { return false; }
  std::int64_t size(Split split) const override { return static_cast<std::int64_t>(part(split).answers.size()); }
  /// Throws std::out_of_range where the split has no such index.
  Example example(Split split, std::int64_t index) const override;
  std::int64_t longest_target(Split) const override { return 0; }

  /// The words before the missing one, with spaces between them.
  Example parse(const std::string& line) const override;
  /// The answer's word.
  std::string render(const std::vector<std::int64_t>& ids) const override;

 protected:
  MissingWord() : vocabulary_({}) {}

  /// Adds an example, its words as the line has them. For use in constructors, before number_words().
  void add(Split split, const std::vector<std::string_view>& words, std::string_view answer, std::uint8_t group);
  /// Makes the vocabulary: the words and answers of the training examples, the most frequent first, at most `most`.
  /// Throws base::BadInput, with `source` in front, where a split has no examples.
  void number_words(std::int64_t most, const std::string& source);
  /// Examples that are scored and have an answer outside the vocabulary.
  std::int64_t unanswerable(Split split) const;

 private:
  /// The examples of one split; ids of the vocabulary once it is known.
  struct Part {
    WordLines words;
    std::vector<std::int32_t> answers;
    std::vector<std::uint8_t> groups;
  };

  void drop_unanswerable(Part& part) const;
  Example example_of(std::span<const std::int32_t> words) const;
  const Part& part(Split split) const { return parts_[static_cast<std::size_t>(split)]; }

  WordTable table_;  // empty once the vocabulary is known
  std::array<Part, 3> parts_;
  Vocabulary vocabulary_;
};

}  // namespace ut::datasets
