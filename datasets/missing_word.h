#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "datasets/repeated_words.h"
#include "datasets/task.h"
#include "datasets/word_lines.h"
#include "datasets/words.h"

namespace ut::datasets {

/// Base of tasks that ask for the word that comes after a line's words, in one of three forms:
/// - class_of_it: the answer is a class of the vocabulary. Source row 0 holds end_of_sequence_id; it stands in the
///   place of the missing word, and the answer is read there. Row n holds the n-th word before it, so that a position
///   says how far back a word is. An answer outside the vocabulary is no_answer: such examples are scored as wrong, and
///   never trained on.
/// - word_before_it: the same rows. The answer is one of their words, by its spelling, so that words outside the
///   vocabulary differ from one another. If it is none of them, it is no_answer, as above.
/// - all_words: in training, and elsewhere with Scored::all_words, the target is the words, the answer and
///   end_of_sequence_id, and each is a label. Otherwise the target is the words and the answer, which alone is a label:
///   no_answer if it, or the rival that it is compared with, is not in the vocabulary.
///
/// Words outside the vocabulary are `<unk>`. If there are names, each different such word of an example is instead one
/// of `<unk-1>`, `<unk-2>`, …, in random order, as long as names are left.
class MissingWord : public Task {
 public:
  enum class Form { class_of_it, word_before_it, all_words };
  /// What all_words scores outside training.
  enum class Scored { answer, all_words };

  const Vocabulary& vocabulary() const override { return vocabulary_; }
  std::int64_t words_per_row() const override { return 1; }
  bool has_target() const override { return form_ == Form::all_words; }
  bool has_source() const override { return form_ != Form::all_words; }
  bool points() const override { return form_ == Form::word_before_it; }
  /// Not if all words are labels: groups are of answers alone.
  bool has_groups(Split split) const override {
    return Task::has_groups(split) && (has_source() || !asks_for_all(split));
  }
  std::int64_t size(Split split) const override { return static_cast<std::int64_t>(part(split).answers.size()); }
  /// Throws std::out_of_range if the split has no such index.
  Example example(Split split, std::int64_t index) const override;
  ExampleSize example_size(Split split, std::int64_t index) const override;

  /// `line`: the words before the missing one, with spaces between them.
  Example parse(const std::string& line) const override;

 protected:
  /// `names`: how many there are for words outside the vocabulary. `repeats`: which words of add_text() are asked for.
  explicit MissingWord(Form form, Scored scored = Scored::answer, std::int64_t names = 0,
                       const RepeatedWords& repeats = {})
      : form_(form), scored_(scored), names_(names), repeats_(repeats), vocabulary_({}) {}

  Form form() const { return form_; }
  const RepeatedWords& repeats() const { return repeats_; }
  /// Adds an example, its words in the line's order. `rival`: see Example; empty: none. For use in constructors, before
  /// number_words().
  void add(Split split, const std::vector<std::string_view>& words, std::string_view answer, std::uint8_t group,
           std::string_view rival = {});
  /// Adds running text to the training split, whose repeated words are asked for. For use in constructors, before
  /// number_words().
  void add_text(const std::vector<std::string_view>& words);
  /// Ends a running text: what is added next does not continue it.
  void end_text();
  /// Makes the vocabulary: the words and answers of the training examples, the most frequent first, at most `most`.
  /// Throws base::BadInput, with `source` in front, if a split other than control has no examples, or none can be
  /// trained on.
  void number_words(std::int64_t most, const std::string& source);
  /// The number of examples that are scored and whose answer is no_answer.
  std::int64_t unanswerable(Split split) const;
  /// The number of training examples that number_words() has left out.
  std::int64_t left_out() const { return left_out_; }

 private:
  using Numbers = std::span<const std::int32_t>;

  /// The examples of one split. Words are numbers of the table and, once the vocabulary is known, its ids; those
  /// outside the vocabulary then have numbers from its size on.
  struct Part {
    WordLines words;
    std::vector<std::int32_t> answers;
    std::vector<std::int32_t> rivals;  // no_answer: none
    std::vector<std::uint8_t> groups;
  };

  void check_splits_have_examples(const std::string& source) const;
  /// The words of training's examples, the most frequent first.
  std::vector<std::string> training_words() const;
  /// Replaces the words' numbers in the table by their ids.
  void renumber(const std::vector<std::int32_t>& ids);
  void add_repeats(std::int64_t most_common);
  void drop_unanswerable();
  bool is_answerable(const Part& part, std::size_t place) const;
  /// Whether each word of a target is a label.
  bool asks_for_all(Split split) const { return split == Split::train || scored_ == Scored::all_words; }
  bool is_known(std::int32_t number) const { return number >= 0 && number < vocabulary_.size(); }
  std::int64_t id_of(std::int32_t number) const;  // `<unk>` if it is outside the vocabulary
  /// The same, except that words outside the vocabulary get names, in an order that `key` decides.
  std::vector<std::int64_t> ids_of(Numbers words, std::uint64_t key) const;
  Example source_of(Numbers words, std::uint64_t key) const;
  Example target_of(Numbers words) const;
  const Part& part(Split split) const { return parts_[static_cast<std::size_t>(split)]; }

  Form form_;
  Scored scored_;
  std::int64_t names_;
  RepeatedWords repeats_;
  std::vector<base::Span> texts_ = {{}};  // spans of the training split's words; the last text is being added to
  WordTable table_;                       // empty once the vocabulary is known
  std::array<Part, 4> parts_;
  std::int64_t left_out_ = 0;
  Vocabulary vocabulary_;
};

}  // namespace ut::datasets
