#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "datasets/missing_word.h"
#include "datasets/task_options.h"

namespace ut::datasets {

/// LAMBADA (Paperno et al., 2016; review version, section 3.3). A line is a passage: words with spaces between them, of
/// which the last is asked for. There are three forms, `lambada_form`:
/// - reading: the last word is a class of the vocabulary, told from all words before it, as in the authors' code for
///   reading comprehension.
/// - pointing: the word is chosen among all words before it. These include its own sentence, since the files do not say
///   where that begins; Chu et al. (2017) choose among the sentences before it. Training passages whose last word is
///   not among the others are left out.
/// - language-model: a decoder learns all words of the training text. It is scored by the last words of the other files
///   or, with `lambada_scores_all_words`, by all of theirs.
///
/// With lambada_context the first two forms read each training file as running text, since its lines follow one
/// another, and ask for its repeated words instead: see RepeatedWords.
/// The development file is the validation split. The control file, if there is one, is the control split. The training
/// text is the first of train-novels, train, novels-lambada-style and train.txt that the data's directory has; of a
/// folder, every .txt file below it, in the order of their paths. It was not made for this task: passages of fewer than
/// two words, which nothing can be asked of, are left out and counted; in the other files they are refused. A line of
/// more than `lambada_longest` words, a whole novel, say, is as many passages of about the same length as it takes.
class Lambada final : public MissingWord {
 public:
  /// Uses data, vocabulary_size and all lambada_ options. Throws base::BadInput naming the option, or the file and
  /// line.
  explicit Lambada(const TaskOptions& options);

  std::string description() const override;
  bool is_judged_by_loss() const override { return form() == Form::all_words; }
  bool has_control() const override { return size(Split::control) > 0; }
  /// By whether the answer is one of the passage's other words.
  std::vector<std::string> groups() const override;

 private:
  void read_passages(Split split, const std::filesystem::path& file);
  /// `words`: two or more, the answer last.
  void add_passage(Split split, std::vector<std::string_view> words);
  void read_text(const std::filesystem::path& file);

  std::string directory_;
  std::string training_;
  std::int64_t longest_;                // words of a training passage, at most
  std::int64_t too_short_ = 0;          // training lines left out
  std::int64_t too_long_ = 0;           // training lines that are several passages
  std::int64_t ends_of_sentences_ = 0;  // training lines whose answer is punctuation
};

/// The files that a directory of LAMBADA's is read from, each with its split, in the order in which they are read.
/// Throws base::BadInput if a needed file is not there.
std::vector<std::pair<Split, std::filesystem::path>> lambada_files(const std::filesystem::path& directory);

/// For a message about a directory without LAMBADA's other files: what its training text lacks. Empty if it has none.
std::string lambada_training_alone(const std::filesystem::path& directory);

}  // namespace ut::datasets
