#pragma once

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "datasets/missing_word.h"
#include "datasets/task_options.h"

namespace ut::datasets {

/// LAMBADA (Paperno et al., 2016; review version, section 3.3). A line is a passage, its words with spaces between
/// them, of which the last is asked for. In three forms, `lambada_form`: reading: as the authors' code has reading
/// comprehension, from all words but the last that one, a class of the vocabulary. pointing: the word is chosen among
/// all those before it, of its own sentence too, since the files do not say where that begins; Chu et al. (2017) choose
/// it among those of the sentences before. Training passages that end with no word of theirs are left out; or, with
/// lambada_context, the training text, whose lines follow one another, is read on from line to line, and its repeated
/// words are asked for, see RepeatedWords.
/// language-model: a decoder learns all words of the training text, and is scored by the last words of the others or,
/// as `lambada_scores_all_words` says, by all of theirs. The development file is the validation split; the control
/// file, where there is one, the control split. The training text is what the data's directory has of train-novels,
/// train, novels-lambada-style (folders: every .txt file below them, in the order of their paths) and train.txt. It was
/// not made for this: its lines of fewer than two words, which nothing can be asked of, are left out and counted; in
/// the other files they are refused.
class Lambada final : public MissingWord {
 public:
  /// Uses data, vocabulary_size and all of lambada_. Throws base::BadInput naming the option, or the file and line.
  explicit Lambada(const TaskOptions& options);

  std::string description() const override;
  bool is_judged_by_loss() const override { return form() == Form::all_words; }
  bool has_control() const override { return size(Split::control) > 0; }
  /// Whether the answer is one of the passage's other words.
  std::vector<std::string> groups() const override;

 private:
  void read_passages(Split split, const std::filesystem::path& file);
  void read_text(const std::filesystem::path& file);

  std::string directory_;
  std::string training_;
  std::int64_t too_short_ = 0;  // training lines
};

/// The files that a directory of LAMBADA's is read from, in that order, and the split of each. Throws base::BadInput
/// where one that is needed is not there.
std::vector<std::pair<Split, std::filesystem::path>> lambada_files(const std::filesystem::path& directory);

}  // namespace ut::datasets
