#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "datasets/missing_word.h"
#include "datasets/task_options.h"

namespace ut::datasets {

/// Whole sentences, and where in each the verb is.
inline constexpr const char* agreement_sentences = "subj_agr_filtered.text";
inline constexpr const char* agreement_verbs = "subj_agr_filtered.gold";

/// Names of the files of number-prediction: what is learned from and validated on, then the tests by attractors.
std::vector<std::string> agreement_number_files();

/// Where the files of a form are: `data` itself where it has any, else the first directory of the published data below
/// it that has, linzen2016_rnn_agr_simple or linzen2016_gulordava_filtered_testset; where none has, the same of the
/// table. Empty where there is none either. Throws base::BadInput where there is no such `data`.
std::filesystem::path find_agreement_directory(const std::string& data, AgreementForm form);

/// Subject-verb agreement (review version, section 3.2; Linzen, Dupoux and Goldberg, 2016), in two forms,
/// `agreement_form`, each read from find_agreement_directory().
/// number-prediction: from the words before a verb whether it is singular (VBZ) or plural (VBP). Reads the numpred.*
/// files of the data's authors: train, val and test.0 to test.5, of which the number is that of nouns of the other
/// number between subject and verb (attractors), after which the test examples are grouped. Without numpred.train the
/// lines of numpred.val are the training examples but for about a tenth, by a hash of the line, which is the validation
/// split. They are few, and fewer have attractors: `agreement_train_share` of each test file, by the same hash, can be
/// trained on too, and is no test then.
/// Where there are no numpred.* files, reads dependencies_table: of 100 lines 9 are training examples and one is for
/// validation, as in the authors' code, but by a hash of the line; the rest are tests where all nouns between subject
/// and verb are attractors, up to 5 of them.
/// language-model: a decoder learns to predict every next word; scored is whether, after the words before the verb, its
/// right form is likelier than the wrong one. Training sentences end with the verb, as in the authors' code. Its forms
/// are, in the table, those of VerbForms; in the numpred.* files, which have none, parts of speech, VBZ and VBP. Where
/// the directory has subj_agr_filtered.text and .gold (Gulordava et al., 2018: whole sentences, the verb's place and
/// both its forms), these are read instead: seven tenths of the sentences, by a hash of the line, are learned as a
/// whole, a tenth is the validation split and the rest the test. Where one of the forms was never seen, the answer
/// counts as wrong.
class Agreement final : public MissingWord {
 public:
  /// Uses data, agreement_form and, of the test.N files, agreement_train_share, which settings made for these may set
  /// for the others too. Throws base::BadInput naming file and line, or what is missing.
  explicit Agreement(const TaskOptions& options);

  std::string description() const override;
  /// By attractors; the last is that of training and validation examples of files that do not say, and of the table's
  /// where not all nouns are attractors, or more than 5 are.
  std::vector<std::string> groups() const override;

 private:
  void read_table(const std::filesystem::path& file);
  void read_numbers(const std::filesystem::path& directory, double train_share);
  void read_training(const std::filesystem::path& directory);
  void read_tests(const std::filesystem::path& directory, double train_share);
  void read_sentences(const std::filesystem::path& directory);

  std::string directory_;
  std::vector<std::string> missing_;  // files that can be done without
  std::int64_t left_out_ = 0;         // lines of the table that are in no split
  bool is_split_by_itself_ = false;   // though a share of the tests was to be trained on
};

}  // namespace ut::datasets
