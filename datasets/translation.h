#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "datasets/parallel_text.h"
#include "datasets/subwords.h"
#include "datasets/task.h"
#include "datasets/task_options.h"
#include "datasets/word_lines.h"

namespace ut::datasets {

/// Translation (review version, section 3.6), or whatever else two files say line by line: the source is a line's
/// pieces of words, the target those of the line beside it; both end with end_of_sequence_id. Both languages share the
/// vocabulary of a SentencePiece model.
/// Unless options name others, sets are found by their names. Training: train (for the languages en and de: train.en
/// and train.de) or, without a set of just that name, all whose names begin with it (train.tok.en). Validation: the
/// same with the first of validation, valid, val and dev that the directory has. Test: every set whose name is test or
/// begins with it.
class Translation final : public Task {
 public:
  /// Uses data, splits, source_language, target_language, train_sets, validation_sets, test_sets, sentencepiece and
  /// longest_pair. Throws base::BadInput naming the option, or file and line.
  explicit Translation(const TaskOptions& options);

  std::string description() const override;
  const Vocabulary& vocabulary() const override { return subwords_.vocabulary(); }
  std::int64_t words_per_row() const override { return 1; }
  bool has_target() const override { return true; }
  /// The sets, if a split has several.
  std::vector<std::string> groups() const override;
  std::int64_t size(Split split) const override { return static_cast<std::int64_t>(part(split).sources.size()); }
  /// Throws std::out_of_range if the split has no such index.
  Example example(Split split, std::int64_t index) const override;
  ExampleSize example_size(Split split, std::int64_t index) const override;

  /// A line in the source language. If it is only white space, an example without source.
  Example parse(const std::string& line) const override;
  std::string render(const std::vector<std::int64_t>& ids) const override;

  bool is_scored_as_text() const override { return true; }
  std::string right_text(Split split, std::int64_t index) const override;
  /// As many symbols as the source has, and 50 more.
  std::int64_t longest_output(const Example& example) const override;
  std::vector<KeptFile> kept_files() const override;

 private:
  /// The pairs of one split.
  struct Part {
    WordLines sources;
    WordLines targets;
    std::vector<std::string> set_names;
    std::vector<std::int64_t> sets;       // of each pair: its set, in set_names_
    std::vector<std::string> right_text;  // targets as in their file; of training only if no other split is asked for
    std::int64_t empty = 0;               // pairs left out of training: a side has no words
    std::int64_t too_long = 0;            // pairs left out of training: a side has too many pieces
  };

  void read_set(Split split, const ParallelFiles& files, const TaskOptions& options);
  const Part& part(Split split) const { return parts_[static_cast<std::size_t>(split)]; }

  std::string directory_;
  std::string languages_;
  std::int64_t longest_pair_;
  std::vector<Split> splits_;
  Subwords subwords_;
  std::vector<std::string> set_names_;
  std::array<Part, 3> parts_;
};

/// Options as a person types them: the languages and, if they are named, the training sets. With `all`, for `ut train`,
/// also the other sets that are named and the SentencePiece model.
std::string parallel_options(const TaskOptions& options, bool all);

/// The files of a split's sets: those that the options name, else those that the directory has. Throws base::BadInput
/// if there are none.
std::vector<ParallelFiles> translation_files(const TaskOptions& options, Split split);

}  // namespace ut::datasets
