#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "datasets/batch.h"
#include "datasets/vocabulary.h"

namespace ut::datasets {

/// control: passages like those of the test, but chosen by nobody; see Task::has_control().
enum class Split { train, validation, test, control };
/// Those that every task has; `control` is beside them.
inline constexpr Split all_splits[] = {Split::train, Split::validation, Split::test};
/// As a person types it.
const char* name_of(Split split);
/// The split, of all_splits, that a generated source belongs to: a third of all texts each, by a hash, whatever the
/// seed. Tasks that draw again what belongs to another have no source in two splits.
Split split_of(std::string_view source);

/// A file that a run keeps, so that it can be used without the data.
struct KeptFile {
  std::string name;
  std::string content;
};

/// A data set that can be trained on: it turns an index into an example, and text into ids and back.
/// Everything is a pure function of the options it was made with, so every rank sees the same.
class Task {
 public:
  virtual ~Task() = default;

  /// One line for a person: what was read or will be drawn (counts, lengths, vocabulary).
  virtual std::string description() const = 0;
  virtual const Vocabulary& vocabulary() const = 0;
  /// Most words in one source row; 1 for tasks whose rows are tokens.
  virtual std::int64_t words_per_row() const = 0;
  /// True where examples have a target sequence (encoder-decoder), false where they have an answer (encoder).
  virtual bool has_target() const = 0;
  /// False where examples are a target alone (decoder): a language model.
  virtual bool has_source() const { return true; }
  /// Whether inputs have outputs, which can be decoded: not so where there is an answer, or a target alone.
  bool has_outputs() const { return has_source() && has_target(); }
  /// True where the answer is one of the source's words, that the model points at.
  virtual bool points() const { return false; }
  /// Whether of two models the one of less loss is better, however much of what they say is right, as of a language
  /// model, none of whose words may be right for long.
  virtual bool is_judged_by_loss() const { return false; }
  /// Whether there is a control split, which no other function is asked for where there is none.
  virtual bool has_control() const { return false; }
  /// Names of the kinds of examples that are scored apart; empty: all are of one kind.
  virtual std::vector<std::string> groups() const { return {}; }
  virtual std::int64_t size(Split split) const = 0;
  /// index in 0..size(split)-1
  virtual Example example(Split split, std::int64_t index) const = 0;
  /// How much there is of it. Data sets that are read say it without making the example.
  virtual ExampleSize example_size(Split split, std::int64_t index) const {
    return size_of(example(split, index), index);
  }

  /// Text typed by a person (one line of `ut decode`) to an example without target.
  /// Throws base::BadInput where the line cannot be read.
  virtual Example parse(const std::string& line) const = 0;
  /// Output ids (without end of sequence), or the answer, as text: words with spaces between them, where a task does
  /// not say otherwise. Throws std::out_of_range where an id is outside the vocabulary.
  virtual std::string render(const std::vector<std::int64_t>& ids) const;

  /// Whether outputs are scored as text too (BLEU): what render() makes of them beside right_text().
  virtual bool is_scored_as_text() const { return false; }
  /// What a person wrote there, to the letter; of tasks that are scored as text.
  virtual std::string right_text(Split, std::int64_t) const { return {}; }
  /// Most symbols, end of sequence included, that are decoded for an example: as many as its target has. Tasks of
  /// source and target say it for examples of parse() too, which have no target.
  virtual std::int64_t longest_output(const Example& example) const {
    return static_cast<std::int64_t>(example.target.size());
  }
  virtual std::vector<KeptFile> kept_files() const { return {}; }
};

/// Throws base::BadInput where `splits`, those that are asked for, have one that the task's data lacks.
void check_splits(const Task& task, const std::vector<Split>& splits);

}  // namespace ut::datasets
