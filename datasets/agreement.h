#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "datasets/missing_word.h"
#include "datasets/task_options.h"

namespace ut::datasets {

/// Whole sentences, and the place of the verb in each.
inline constexpr const char* agreement_sentences = "subj_agr_filtered.text";
inline constexpr const char* agreement_verbs = "subj_agr_filtered.gold";

/// File names of number-prediction: training, validation, then the tests by number of attractors.
std::vector<std::string> agreement_number_files();

/// The directory with the files of a form: `data` itself or, below it, one of the published data's,
/// linzen2016_rnn_agr_simple or linzen2016_gulordava_filtered_testset. The first of these that has the form's files is
/// taken, else the first that has the table. Empty if none has either. Throws base::BadInput if there is no directory
/// `data`.
std::filesystem::path find_agreement_directory(const std::string& data, AgreementForm form);

/// Subject-verb agreement (review version, section 3.2; Linzen, Dupoux and Goldberg, 2016), in two forms,
/// `agreement_form`, each read from find_agreement_directory().
///
/// number-prediction: the model tells from the words before a verb whether it is singular (VBZ) or plural (VBP). Reads
/// the numpred.* files of the data's authors: train, val and test.0 to test.5. The number of a test file is that of its
/// attractors: nouns between subject and verb of the other grammatical number. Test examples are grouped by it. Without
/// numpred.train about a tenth of the lines of numpred.val, chosen by a hash of the line, are the validation split and
/// the others are training examples. These are few, and fewer have attractors. `agreement_train_share` of each test
/// file, by the same hash, can therefore be trained on instead of tested.
/// Without numpred.* files, reads dependencies_table: of 100 lines 9 are training examples and one is for validation,
/// as in the authors' code, but chosen by a hash of the line. The rest are tests if all nouns between subject and verb
/// are attractors, and these are at most 5. Sentences that begin with the verb are left out.
///
/// language-model: a decoder learns to predict every next word. It is scored by whether, after the words before the
/// verb, the right form is likelier than the wrong one. Training sentences end with the verb, as in the authors' code.
/// For the table the forms are those of VerbForms. The numpred.* files have none: there the parts of speech, VBZ and
/// VBP, take their place. If the directory has subj_agr_filtered.text and .gold (Gulordava et al., 2018: whole
/// sentences, the verb's place and both its forms), these are read instead: by a hash of the line, seven tenths of the
/// sentences are learned as a whole, a tenth is the validation split and the rest the test. If one of the forms was
/// never seen in training, the answer counts as wrong.
class Agreement final : public MissingWord {
 public:
  /// Uses data, agreement_form and agreement_train_share. The share applies to the test.N files without numpred.train;
  /// settings made for these may set it for other data too, where it is ignored. Throws base::BadInput naming file and
  /// line, or what is missing.
  explicit Agreement(const TaskOptions& options);

  std::string description() const override;
  /// By number of attractors. The last group is that of unknown numbers: training and validation examples of files that
  /// do not say, and examples of the table in which not all nouns are attractors or more than 5 are.
  std::vector<std::string> groups() const override;

 private:
  void read_table(const std::filesystem::path& file);
  void read_numbers(const std::filesystem::path& directory, double train_share);
  void read_training(const std::filesystem::path& directory);
  void read_tests(const std::filesystem::path& directory, double train_share);
  void read_sentences(const std::filesystem::path& directory);

  std::string directory_;
  std::vector<std::string> missing_;  // files that are missing and can be done without
  std::int64_t left_out_ = 0;         // lines of the table that are in no split
  bool ignores_train_share_ = false;  // a share was given, but the data is split by itself
};

}  // namespace ut::datasets
