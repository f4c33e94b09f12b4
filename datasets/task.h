#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "datasets/batch.h"
#include "datasets/vocabulary.h"

namespace ut::datasets {

/// control: passages like those of the test, but not selected by anybody; see Task::has_control().
enum class Split { train, validation, test, control };
/// The splits that every task has; `control` is beside them.
inline constexpr Split all_splits[] = {Split::train, Split::validation, Split::test};
/// The split's name as a person types it.
const char* name_of(Split split);
/// The split, of all_splits, that a generated source belongs to: by a hash, a third of all texts each, whatever the
/// seed. Tasks that draw again what belongs to another split have no source in two splits.
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
  /// True if examples have a target sequence (encoder-decoder), false if they have an answer (encoder).
  virtual bool has_target() const = 0;
  /// False if examples are a target alone (decoder): a language model.
  virtual bool has_source() const { return true; }
  /// Whether inputs have outputs that can be decoded: not if there is an answer, or a target alone.
  bool has_outputs() const { return has_source() && has_target(); }
  /// True if the answer is one of the source's words, at which the model points.
  virtual bool points() const { return false; }
  /// Whether the better of two models is the one with less loss, however many of their answers are right. True for a
  /// language model, which may get no word right for a long time.
  virtual bool is_judged_by_loss() const { return false; }
  /// Whether there is a control split. If there is none, no other function may be asked for it.
  virtual bool has_control() const { return false; }
  /// Names of the kinds of examples that are scored separately; empty if all are of one kind.
  virtual std::vector<std::string> groups() const { return {}; }
  /// Whether the split's scores are also given by group.
  virtual bool has_groups(Split) const { return !groups().empty(); }
  virtual std::int64_t size(Split split) const = 0;
  /// index in 0..size(split)-1
  virtual Example example(Split split, std::int64_t index) const = 0;
  /// The sizes of an example. Tasks that read data know them without making the example.
  virtual ExampleSize example_size(Split split, std::int64_t index) const {
    return size_of(example(split, index), index);
  }

  /// Turns text typed by a person (one line of `ut decode`) into an example without target.
  /// Throws base::BadInput if the line cannot be read.
  virtual Example parse(const std::string& line) const = 0;
  /// Turns output ids (without end of sequence), or the answer, into text: words with spaces between them, unless a
  /// task says otherwise. Throws std::out_of_range if an id is outside the vocabulary.
  virtual std::string render(const std::vector<std::int64_t>& ids) const;

  /// Whether outputs are also scored as text (BLEU): what render() makes of them against right_text().
  virtual bool is_scored_as_text() const { return false; }
  /// The target exactly as a person wrote it, for tasks that are scored as text.
  virtual std::string right_text(Split, std::int64_t) const { return {}; }
  /// Most symbols, end of sequence included, that are decoded for an example: as many as its target has. Tasks with
  /// source and target override it for examples of parse(), which have no target.
  virtual std::int64_t longest_output(const Example& example) const {
    return static_cast<std::int64_t>(example.target.size());
  }
  virtual std::vector<KeptFile> kept_files() const { return {}; }
};

/// Throws base::BadInput if `splits`, those that are asked for, has one that the task's data lacks.
void check_splits(const Task& task, const std::vector<Split>& splits);

}  // namespace ut::datasets
